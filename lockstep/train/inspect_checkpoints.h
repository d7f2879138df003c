// A run's checkpoints for people and scripts: what `lockstep checkpoints` prints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lockstep/base/json.h"

namespace lockstep::train {

// `run`: the folder of a run, or where its checkpoints are (s3://bucket/prefix/name). All throw
// ConfigError when there is no run, IoError when the storage does not answer.

// One object a checkpoint, newest first: "step", "generation", "folder", "status" (committed, damaged,
// unfinished, or not this run's), and of committed ones "bytes", "ranks", "time", "loss", "held_out_loss".
Json list_checkpoints(const std::string& run);

// The same of the run's own, with every file read and compared: "status" is whole or damaged, and
// "problems" names what is wrong. Only that of `step` when given: ConfigError when there is none.
Json verify_checkpoints(const std::string& run, std::optional<int64_t> step);

// The newest, or that of `step`: its manifest without the slices, and the tensors that it holds.
Json show_checkpoint(const std::string& run, std::optional<int64_t> step);

// Objects of one kind as lines under a heading; a column for each key of the first.
std::string to_table(const Json& rows);

}  // namespace lockstep::train
