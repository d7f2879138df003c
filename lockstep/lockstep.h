// Everything that a program with a train function of its own needs. See examples/train_func.
#pragma once

#include "lockstep/base/error.h"
#include "lockstep/models/causal_lm.h"
#include "lockstep/optim/adamw.h"
#include "lockstep/train/torch_trainer.h"
#include "lockstep/train/train_context.h"

namespace lockstep {

using train::Batch;
using train::TorchTrainer;
using train::TrainContext;

}  // namespace lockstep
