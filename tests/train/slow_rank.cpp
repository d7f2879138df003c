// Fine-tunes as `lockstep train` does, with a rank 1 that is slow: for three steps each in what it does
// with a micro-batch, in backward, and after the step.
#include <ATen/core/Tensor.h>

#include <thread>

#include "lockstep/train/torch_trainer.h"
#include "lockstep/train/train_context.h"

namespace {

void be_slow() { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }

void train_func(lockstep::train::TrainContext& context) {
  const auto& recipe = context.recipe();
  auto model =
      context.prepare_model(lockstep::models::CausalLM::from_pretrained(recipe.model, recipe.train.seed));
  context.prepare_optimizer(lockstep::optim::AdamW(model.parameters(), {.lr = recipe.optimizer.lr}));
  for (const lockstep::train::Batch& batch : context.batches()) {
    const int64_t turn = context.rank() == 1 ? batch.step / 3 : -1;
    if (turn == 0) be_slow();
    const at::Tensor loss = model->loss(batch);
    if (turn == 1) {
      loss.register_hook([](const at::Tensor& gradient) {
        be_slow();
        return gradient;
      });
    }
    if (!context.step(loss, batch)) continue;
    context.report();
    if (turn == 2) be_slow();
  }
}

}  // namespace

int main(int argc, char** argv) { return lockstep::train::TorchTrainer(train_func).main(argc, argv); }
