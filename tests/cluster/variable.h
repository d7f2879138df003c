// An environment variable for as long as its owner lives.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

#include "lockstep/base/env_var.h"

namespace lockstep::cluster {

class Variable {
 public:
  Variable(std::string name, const char* value) : name_(std::move(name)), former_(env_var(name_)) {
    set(value == nullptr ? std::nullopt : std::optional<std::string>(value));
  }
  ~Variable() { set(former_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const std::optional<std::string>& value) {
    if (value) {
      ::setenv(name_.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }

  std::string name_;
  std::optional<std::string> former_;
};

}  // namespace lockstep::cluster
