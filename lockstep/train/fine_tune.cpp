#include "lockstep/train/fine_tune.h"

#include "lockstep/train/train_context.h"

namespace lockstep::train {

void fine_tune(TrainContext& context) {
  const Recipe& recipe = context.recipe();
  auto model = context.prepare_model(models::CausalLM::from_pretrained(recipe.model, recipe.train.seed));
  auto optimizer = context.prepare_optimizer(
      optim::AdamW(model.parameters(), {.lr = recipe.optimizer.lr,
                                        .beta1 = recipe.optimizer.beta1,
                                        .beta2 = recipe.optimizer.beta2,
                                        .eps = recipe.optimizer.eps,
                                        .weight_decay = recipe.optimizer.weight_decay}));
  for (const Batch& batch : context.batches()) {
    if (context.step(model->loss(batch), batch)) context.report();
  }
}

}  // namespace lockstep::train
