// A small model with everything that makes sharding hard: sizes that nothing divides, a
// weight that two modules share, frozen parameters beside trainable ones, parameters that
// no step uses.
#pragma once

#include <ATen/ATen.h>

#include "lockstep/nn/embedding.h"
#include "lockstep/nn/linears.h"
#include "lockstep/nn/module.h"
#include "lockstep/nn/recompute.h"

namespace lockstep::fsdp::testing {

inline at::Tensor seeded(at::IntArrayRef sizes, uint64_t seed, at::ScalarType dtype) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  return (at::randn(sizes, generator, at::kDouble) * 0.3).to(dtype);
}

struct BlockImpl : nn::Module {
  BlockImpl(uint64_t seed, at::ScalarType dtype) {
    up = register_parameter("up", seeded({7, 5}, seed, dtype));
    bias = register_parameter("bias", seeded({7}, seed + 1, dtype));
    down = register_parameter("down", seeded({5, 7}, seed + 2, dtype));
    frozen = register_parameter("frozen", seeded({5}, seed + 3, dtype), /*requires_grad=*/false);
    unused = register_parameter("unused", seeded({3}, seed + 4, dtype));
  }
  at::Tensor forward(at::Tensor x) {
    x = x + at::linear(at::tanh(at::linear(x, up, bias)), down) * frozen;
    return use_unused ? x * (1 + unused.sum()) : x;
  }
  bool use_unused = false;
  at::Tensor up, bias, down, frozen, unused;
};
LOCKSTEP_MODULE(Block);

struct HeadImpl : nn::Module {
  explicit HeadImpl(at::Tensor tied) { weight = register_parameter("weight", tied); }
  at::Tensor forward(at::Tensor x) { return nn::linears(x, {weight}, {}).front(); }
  at::Tensor weight;
};
LOCKSTEP_MODULE(Head);

struct AwkwardNetImpl : nn::Module {
  explicit AwkwardNetImpl(at::ScalarType dtype = at::kDouble) {
    embedding = register_parameter("embedding", seeded({11, 5}, 1, dtype));
    for (uint64_t i = 0; i < 3; ++i) {
      blocks.push_back(register_module("block" + std::to_string(i), Block(100 * (i + 1), dtype).ptr()));
    }
    head = Head(register_module("head", Head(embedding).ptr()));
  }
  // tokens: [B] int64; the sum over them of -log p(next), next = token * 3 + 1 mod 11.
  at::Tensor forward(at::Tensor tokens) {
    at::Tensor x = nn::embed(embedding, tokens);
    for (auto& block : blocks) {
      const auto body = [held = Block(block)](const nn::Tensors& in) mutable -> nn::Tensors {
        return {held(in[0])};
      };
      x = recompute ? nn::recomputed(body, {x})[0] : block(x);
    }
    const at::Tensor targets = (tokens * 3 + 1).remainder(11);
    return -at::log_softmax(head(x), -1).gather(-1, targets.unsqueeze(-1)).sum();
  }
  bool recompute = false;  // the blocks, in backward
  at::Tensor embedding;
  std::vector<Block> blocks;
  Head head{nullptr};
};
LOCKSTEP_MODULE(AwkwardNet);

}  // namespace lockstep::fsdp::testing
