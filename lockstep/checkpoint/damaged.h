// What was read is not what was written.
#pragma once

#include "lockstep/base/error.h"

namespace lockstep::checkpoint {

// A file of a checkpoint is missing, cut or changed; the message names it. Another checkpoint may
// be whole. A store that does not answer is an IoError instead: then nothing is known.
class DamagedError : public ErrorOf<ExitCode::kStorage> {
 public:
  using ErrorOf::ErrorOf;
};

}  // namespace lockstep::checkpoint
