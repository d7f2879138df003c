// A program of your own: your model, your loop; Lockstep shards the model, feeds it, steps.
//
//   cmake -S examples/train_func -B build/train_func -DCMAKE_PREFIX_PATH=<where Lockstep is installed>
//   cmake --build build/train_func
//   build/train_func/train_func examples/tiny.yaml name=own train.steps=10
//
// Prints a line per step; the loss falls from about 6.2.
#include <lockstep/lockstep.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>

namespace nn = torch::nn;

// Predicts the next token from this one alone. Plain torch::nn: the whole model is one unit.
struct BigramImpl : nn::Module {
  BigramImpl(int64_t vocab_size, int64_t width)
      : embedding(register_module("embedding", nn::Embedding(vocab_size, width))),
        hidden(register_module("hidden", nn::Linear(width, width))),
        head(register_module("head", nn::Linear(width, vocab_size))) {}

  at::Tensor forward(const at::Tensor& tokens) { return head(torch::tanh(hidden(embedding(tokens)))); }

  nn::Embedding embedding;
  nn::Linear hidden, head;
};
TORCH_MODULE(Bigram);

void train_func(lockstep::TrainContext& context) {
  auto model = context.prepare_model(Bigram(context.vocab_size(), 64));
  auto optimizer = context.prepare_optimizer(lockstep::optim::AdamW(model.parameters(), {.lr = 1e-2}));
  const auto loss_of = [&](const lockstep::Batch& batch) {
    const at::Tensor logits = model(batch.tokens.to(context.device()));  // [B, T, V]
    return nn::functional::cross_entropy(
        logits.flatten(0, 1), batch.targets.to(context.device()).flatten(),
        nn::functional::CrossEntropyFuncOptions().ignore_index(-100).reduction(torch::kSum));
  };
  context.evaluate_with(loss_of);
  for (const lockstep::Batch& batch : context.batches()) {
    if (context.step(loss_of(batch), batch)) context.report({{"loss", context.step_loss()}});
  }
}

int main(int argc, char** argv) { return lockstep::TorchTrainer(train_func).main(argc, argv); }
