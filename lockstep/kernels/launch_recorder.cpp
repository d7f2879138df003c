#include "lockstep/kernels/launch_recorder.h"

namespace lockstep::kernels {
namespace {

std::unique_ptr<LaunchRecorder> (*make_registered)() = nullptr;

}  // namespace

std::unique_ptr<LaunchRecorder> make_launch_recorder() {
  return make_registered == nullptr ? nullptr : make_registered();
}

void register_launch_recorder(std::unique_ptr<LaunchRecorder> (*make)()) { make_registered = make; }

}  // namespace lockstep::kernels
