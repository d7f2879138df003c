// What `lockstep train` runs: fine-tunes the recipe's language model on the recipe's data.
#pragma once

namespace lockstep::train {

class TrainContext;

void fine_tune(TrainContext& context);

}  // namespace lockstep::train
