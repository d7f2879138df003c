#include <gtest/gtest.h>

#include <cstdio>
#include <exception>

#include "lockstep/comm/cuda_library.h"

int main(int argc, char** argv) {
  try {
    lockstep::comm::load_cuda_library();  // before any torch call
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
