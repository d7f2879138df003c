#include "lockstep/base/cuda_driver.h"

#include <gmock/gmock.h>

#include <cstdlib>

namespace lockstep {
namespace {

TEST(CudaDriver, NamesItsVersionAndDevices) {
  const CudaDriver driver = CudaDriver::load(FAKE_LIBCUDA);
  EXPECT_EQ(driver.problem, "");
  EXPECT_THAT(driver.library, testing::EndsWith("libfake_libcuda.so"));
  EXPECT_EQ(driver.version, 13000);
  ASSERT_EQ(driver.devices.size(), 2U);
  EXPECT_EQ(driver.devices[1].name, "Test GPU 1");
  EXPECT_EQ(driver.devices[1].bus_id, "0000:1a:00");
  EXPECT_EQ(driver.devices[1].memory_bytes, int64_t{24} << 30);
}

TEST(CudaDriver, ThatDoesNotInitialiseSaysWhy) {
  setenv("FAKE_LIBCUDA_INIT", "804", 1);
  const CudaDriver driver = CudaDriver::load(FAKE_LIBCUDA);
  unsetenv("FAKE_LIBCUDA_INIT");
  EXPECT_EQ(driver.init_error, 804);
  EXPECT_EQ(driver.problem, "cuInit returned 804 (words of the driver)");
  EXPECT_EQ(driver.version, 13000) << "known without initialising";
}

TEST(CudaDriver, ThatIsNotThereIsNamed) {
  const CudaDriver driver = CudaDriver::load("libno_such_driver.so.1");
  EXPECT_EQ(driver.library, "");
  EXPECT_THAT(driver.problem, testing::HasSubstr("libno_such_driver.so.1: cannot open shared object file"));
}

}  // namespace
}  // namespace lockstep
