// What `up` and `down` need of the world besides programs; tests give their own.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "lockstep/cluster/command_runner.h"

namespace lockstep::cluster::eks {

struct Surroundings {
  CommandRunner& runner;
  std::function<void(const std::string& line)> say;  // progress, for people
  // Waits. Throws InterruptedError when the user asks to stop.
  std::function<void(std::chrono::seconds)> pause;
  std::function<std::chrono::system_clock::time_point()> now;
};

}  // namespace lockstep::cluster::eks
