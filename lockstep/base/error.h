// What can fail in the world, as types, and the exit code that each becomes.
// `main` alone turns an error into an exit code; everything below throws.
// A message says where, what, the values, and the way out, in one line.
#pragma once

#include <stdexcept>
#include <string>

namespace lockstep {

// Exit codes are part of the protocol between worker, launcher and scripts (docs/exit_codes.md).
enum class ExitCode : int {
  kFinished = 0,
  kInternal = 1,
  kUsage = 2,       // bad usage, recipe or model files
  kData = 3,        // data refused
  kDoesNotFit = 4,  // also out of memory on the GPU
  kTransport = 5,   // transport refused or unknown
  kGuard = 6,       // stopped by a guard
  kStorage = 7,     // storage failed
  kCommand = 8,     // an external command failed
  kPeerLost = 10,
  kHang = 11,
  kPreempted = 12,     // SIGTERM; saved if the time allowed
  kInterrupted = 130,  // SIGINT
};

// Storage failure, lost peer, hang, preemption and death by a signal (given as 128 + signal)
// may go away by themselves; everything else would fail again.
bool worth_a_retry(int exit_code);

class Error : public std::runtime_error {
 public:
  ExitCode exit_code() const { return exit_code_; }

 protected:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), exit_code_(code) {}

 private:
  ExitCode exit_code_;
};

template <ExitCode kCode>
class ErrorOf : public Error {
 public:
  explicit ErrorOf(const std::string& message) : Error(kCode, message) {}
};

using ConfigError = ErrorOf<ExitCode::kUsage>;  // recipe, command line, model files
using DataError = ErrorOf<ExitCode::kData>;
using DoesNotFitError = ErrorOf<ExitCode::kDoesNotFit>;
using TransportError = ErrorOf<ExitCode::kTransport>;
using GuardError = ErrorOf<ExitCode::kGuard>;
using IoError = ErrorOf<ExitCode::kStorage>;
using CommandError = ErrorOf<ExitCode::kCommand>;
using CommError = ErrorOf<ExitCode::kPeerLost>;
using HangError = ErrorOf<ExitCode::kHang>;
using PreemptedError = ErrorOf<ExitCode::kPreempted>;
using InterruptedError = ErrorOf<ExitCode::kInterrupted>;

}  // namespace lockstep
