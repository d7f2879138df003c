// A question to the world: its answer, or why there is none.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "lockstep/base/error.h"

namespace lockstep::cluster::doctor {

// Thrown by Asked::need(); ends the one check that needed the answer.
struct Unanswered {
  std::string why;
};

template <typename T>
struct Asked {
  std::optional<T> answer;
  std::string why_not;  // where there is no answer

  const T& need() const {
    if (!answer) throw Unanswered{why_not};
    return *answer;
  }
};

// The error of a program or a service is an answer missing; Ctrl-C is none, and goes on up.
template <typename Question>
auto ask(Question question) -> Asked<decltype(question())> {
  try {
    return {.answer = question(), .why_not = ""};
  } catch (const CommandError& error) {
    return {.answer = std::nullopt, .why_not = error.what()};
  } catch (const ConfigError& error) {
    return {.answer = std::nullopt, .why_not = error.what()};
  }
}

}  // namespace lockstep::cluster::doctor
