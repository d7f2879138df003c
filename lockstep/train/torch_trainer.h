// A whole program from one train function: the command, the driver and the worker.
//
//   int main(int argc, char** argv) { return lockstep::TorchTrainer(train_func).main(argc, argv); }
//
//   my_train recipe.yaml [key=value ...] [--from CHECKPOINT] [--json] [--quiet] [--dry-run]
#pragma once

#include "lockstep/train/worker.h"

namespace lockstep::train {

class TorchTrainer {
 public:
  explicit TorchTrainer(TrainFunction train_func) : train_func_(std::move(train_func)) {}

  // Starts the workers of the recipe, as `lockstep train` does, or is one of them when the
  // environment says so. Returns the exit code; errors are one line on standard error.
  int main(int argc, char** argv);

 private:
  TrainFunction train_func_;
};

}  // namespace lockstep::train
