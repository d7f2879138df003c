#include <fmt/format.h>

#include "lockstep/base/byte_size.h"
#include "lockstep/cluster/node_checks.h"

namespace lockstep::cluster {
namespace {

// "580.65.06" of ".../libcuda.so.580.65.06".
std::string version_of_file(const std::string& library) {
  const size_t at = library.rfind(".so.");
  return at == std::string::npos ? "" : library.substr(at + 4);
}

std::string cuda(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

constexpr int kCompatibilityMismatch = 803, kCompatibilityNotSupported = 804;

std::string fix_for(int init_error) {
  if (init_error == kCompatibilityMismatch)
    return "libcuda and the kernel module do not go together: take folders named compat out of "
           "LD_LIBRARY_PATH and "
           "/etc/ld.so.conf.d, or restart the container after a driver update of the host";
  if (init_error == kCompatibilityNotSupported)
    return "only data-center GPUs take libcuda of a newer driver: take the folder named compat out of "
           "LD_LIBRARY_PATH and update the host's driver";
  return "`nvidia-smi` on the host tells whether the driver works; reboot the host, or replace it";
}

}  // namespace

Check check_driver(const Node& node, const CudaDriver& driver) {
  Check check{.name = "driver",
              .why = "Lockstep's CUDA part needs a driver that supports the CUDA it was built for"};
  const std::string kernel = node.nvidia_kernel_module();
  if (kernel.empty() && driver.library.empty()) {
    check.state = CheckState::kNote;
    check.saw = "no GPU driver: neither /proc/driver/nvidia/version nor libcuda.so.1";
    check.why = "without it workers train on the CPU";
    return check;
  }
  if (driver.library.empty()) {
    check.state = CheckState::kFault;
    check.saw = fmt::format("kernel module {}, but no libcuda.so.1 here", kernel);
    check.why = "the host has GPUs, this container cannot use them and would train on the CPU";
    check.fix =
        "start the container with NVIDIA's runtime (docker run --gpus all; in Kubernetes request "
        "nvidia.com/gpu and "
        "run the device plugin)";
    return check;
  }
  const std::string user = version_of_file(driver.library);
  // libcuda of another release than the kernel module, from NVIDIA's cuda-compat package.
  const bool compatibility = driver.library.find("/compat/") != std::string::npos ||
                             (!kernel.empty() && user.find('.') != std::string::npos && user != kernel);
  check.saw =
      fmt::format("{}, libcuda supports CUDA {}, Lockstep is built for {}; forward compatibility is {}",
                  kernel.empty() ? "kernel module of unknown version" : "kernel module " + kernel,
                  driver.version ? cuda(*driver.version) : "?",
                  node.built_for_cuda ? cuda(node.built_for_cuda) : "none (built without CUDA)",
                  compatibility ? fmt::format("active ({})", driver.library) : "not active");
  if (driver.init_error != 0) {
    check.state = CheckState::kFault;
    check.saw += "; " + driver.problem;
    check.fix = fix_for(driver.init_error);
  } else if (node.built_for_cuda == 0) {
    check.state = CheckState::kNote;
    check.why = "this build trains on the CPU whatever the machine has";
    check.fix = "install a build of Lockstep with CUDA";
  } else if (driver.version && *driver.version / 1000 < node.built_for_cuda / 1000) {
    // Within a major release a newer runtime works with the older driver (minor version compatibility).
    check.state = CheckState::kFault;
    check.fix = fmt::format(
        "a driver for CUDA {} or newer on the host (a newer AMI); on data-center GPUs the package "
        "cuda-compat with "
        "its folder first in LD_LIBRARY_PATH does as well. Images that set it up in their entrypoint lose it "
        "where "
        "the command replaces that, as under KubeRay",
        node.built_for_cuda / 1000);
  }
  return check;
}

Check check_gpus(const Node& node, const CudaDriver& driver) {
  Check check{.name = "gpus", .why = "each worker takes one of the visible GPUs"};
  const auto visible = node.env("CUDA_VISIBLE_DEVICES");
  const std::string by_variable = visible ? fmt::format(" (CUDA_VISIBLE_DEVICES is \"{}\")", *visible) : "";
  if (!driver.devices.empty()) {
    check.saw =
        fmt::format("{} GPU{}{}:", driver.devices.size(), driver.devices.size() == 1 ? "" : "s", by_variable);
    for (const CudaDriver::Device& device : driver.devices)
      check.saw += fmt::format(" [{}] {} {}", device.bus_id, device.name, format_bytes(device.memory_bytes));
    return check;
  }
  if (driver.library.empty() && !node.exists("/proc/driver/nvidia/version")) {
    check.state = CheckState::kNote;
    check.saw = "no GPU: workers train on the CPU";
    check.why = "that is right on a machine without GPUs";
    return check;
  }
  check.state = visible ? CheckState::kNote : CheckState::kFault;
  check.saw = fmt::format("a driver, but no GPU{}", by_variable);
  check.why = "workers would train on the CPU";
  check.fix = visible ? "unset CUDA_VISIBLE_DEVICES, or let it name GPUs, unless the CPU is meant"
                      : "in Kubernetes request nvidia.com/gpu; `nvidia-smi` on the host lists what there is";
  return check;
}

}  // namespace lockstep::cluster
