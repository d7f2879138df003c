#include "lockstep/comm/cuda_library.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "lockstep/base/error.h"

namespace lockstep::comm::internal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class CudaLibraryTest : public ::testing::Test {
 protected:
  void driver_answers(int init_error, int devices) {
    setenv("FAKE_CUDA_INIT", std::to_string(init_error).c_str(), 1);
    setenv("FAKE_CUDA_DEVICES", std::to_string(devices).c_str(), 1);
  }
  const std::string driver_ = FAKE_CUDA_DRIVER;
  const std::string missing_ = "/nowhere/liblockstep_cuda.so";
};

TEST_F(CudaLibraryTest, WithoutADriverThereIsNothingToLoad) {
  const auto library = load_cuda_library("libno_such_driver.so.1", missing_);
  EXPECT_FALSE(library.loaded);
  EXPECT_THAT(library.reason, AllOf(HasSubstr("no GPU driver"), HasSubstr("libno_such_driver.so.1")));
}

TEST_F(CudaLibraryTest, ADriverThatDoesNotInitialiseCountsAsNone) {
  driver_answers(999, 2);
  const auto library = load_cuda_library(driver_, missing_);
  EXPECT_FALSE(library.loaded);
  EXPECT_THAT(library.reason, HasSubstr("cuInit returned 999"));
}

TEST_F(CudaLibraryTest, ADriverWithoutDevicesCountsAsNone) {
  driver_answers(0, 0);
  const auto library = load_cuda_library(driver_, missing_);
  EXPECT_FALSE(library.loaded);
  EXPECT_THAT(library.reason, HasSubstr("CUDA_VISIBLE_DEVICES"));
}

TEST_F(CudaLibraryTest, GpusWithoutTheLibraryAreAnErrorThatSaysWhatToDo) {
  driver_answers(0, 2);
  try {
    load_cuda_library(driver_, missing_);
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("2 GPUs"), HasSubstr(missing_), HasSubstr("cannot open"),
                                    HasSubstr("scaling.use_gpu: false")));
  }
}

TEST_F(CudaLibraryTest, GpusAndALibraryThatLoads) {
  driver_answers(0, 3);
  EXPECT_EQ(driver_device_count(driver_, nullptr), 3);
  EXPECT_TRUE(load_cuda_library(driver_, driver_).loaded);
}

}  // namespace
}  // namespace lockstep::comm::internal
