// Steps that succeed or fail on all ranks alike: one that failed alone would leave the others waiting.
#pragma once

#include <c10/core/Device.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/comm/mesh.h"

namespace lockstep::train {

struct RankFailure {
  int rank = 0;
  ExitCode code = ExitCode::kInternal;
  std::string words;
};

// Collective. Every rank runs `action`; returns who failed with which Error, alike on every rank.
// Other exceptions, CommError and HangError pass through: then there are no others to tell.
std::vector<RankFailure> failures_of(comm::Mesh& mesh, c10::Device device,
                                     const std::function<void()>& action);

// Throws the first of them, if there is one, as the Error that it was.
void throw_first(const std::vector<RankFailure>& failures);

// Runs `action` as failures_of does; the first failure is thrown on every rank.
void together(comm::Mesh& mesh, c10::Device device, const std::function<void()>& action);

// Collective. Rank 0 runs `make`; every rank gets its text, or its Error.
std::string from_rank_0(comm::Mesh& mesh, c10::Device device, const std::function<std::string()>& make);

}  // namespace lockstep::train
