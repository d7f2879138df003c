// Tests that need GPUs: the program loads the CUDA library first thing; where there are too
// few GPUs a test is skipped and says why.
#pragma once

#include <gtest/gtest.h>

#include "lockstep/comm/cuda_backend.h"
#include "lockstep/comm/cuda_library.h"

namespace lockstep::testing {

class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override { need(1); }
  // Call as `if (!need(2)) return;` in a test that wants more than one.
  bool need(int gpus) {
    const auto& library = comm::load_cuda_library();
    if (!library.loaded) {
      skip(library.reason);
    } else if (cuda().device_count() < gpus) {
      skip("needs " + std::to_string(gpus) + " GPUs, there are " + std::to_string(cuda().device_count()));
    }
    return !IsSkipped();
  }
  static comm::CudaBackend& cuda() { return *comm::cuda_backend(); }

 private:
  static void skip(const std::string& reason) { GTEST_SKIP() << reason; }
};

}  // namespace lockstep::testing
