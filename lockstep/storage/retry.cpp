#include "lockstep/storage/retry.h"

#include <random>
#include <thread>

namespace lockstep::storage {
namespace {

// Another row of numbers in every thread of every process.
double any_share() {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(generator);
}

}  // namespace

RetryClock RetryClock::real() {
  return {.now = std::chrono::steady_clock::now,
          .sleep = [](std::chrono::nanoseconds time) { std::this_thread::sleep_for(time); },
          .random = any_share};
}

}  // namespace lockstep::storage
