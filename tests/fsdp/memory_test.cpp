// What each rank holds for weights and gradients, counted by an allocator that wraps
// libtorch's. Ranks are threads, so a count is taken over all of them together.
#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>

#include <atomic>

#include "lockstep/comm/run_ranks.h"
#include "lockstep/fsdp/sharded.h"

namespace lockstep::fsdp {
namespace {

class CountingAllocator : public c10::Allocator {
 public:
  explicit CountingAllocator(c10::Allocator* inner) : inner_(inner) {}

  c10::DataPtr allocate(size_t bytes) override {
    const int64_t now = live_ += static_cast<int64_t>(bytes);
    for (int64_t peak = peak_; now > peak && !peak_.compare_exchange_weak(peak, now);) {
    }
    c10::DataPtr memory = inner_->allocate(bytes);
    void* address = memory.get();
    auto* block = new Block{std::move(memory), static_cast<int64_t>(bytes), this};
    return {address, block, &release, c10::kCPU};
  }
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

  int64_t live() const { return live_; }
  int64_t peak() const { return peak_; }
  void reset_peak() { peak_ = live_.load(); }

 private:
  struct Block {
    c10::DataPtr memory;
    int64_t bytes;
    CountingAllocator* owner;
  };
  static void release(void* pointer) {
    auto* block = static_cast<Block*>(pointer);
    block->owner->live_ -= block->bytes;
    delete block;
  }

  c10::Allocator* inner_;
  std::atomic<int64_t> live_{0}, peak_{0};
};

struct LayerImpl : nn::Module {
  LayerImpl() {
    for (int i = 0; i < kWeights; ++i) {
      weights.push_back(register_parameter("w" + std::to_string(i), at::zeros({kWidth, kWidth})));
    }
  }
  at::Tensor forward(at::Tensor x) {
    for (const auto& w : weights) x = at::linear(x, w);
    return x;
  }
  static constexpr int64_t kWidth = 128, kWeights = 8;
  std::vector<at::Tensor> weights;
};
LOCKSTEP_MODULE(Layer);

struct StackImpl : nn::Module {
  StackImpl() {
    for (int i = 0; i < kLayers; ++i)
      layers.push_back(register_module("l" + std::to_string(i), Layer().ptr()));
  }
  at::Tensor forward(at::Tensor x) {
    for (auto& layer : layers) x = layer(x);
    return x.sum();
  }
  static constexpr int64_t kLayers = 10;
  std::vector<Layer> layers;
};
LOCKSTEP_MODULE(Stack);

TEST(Memory, FullShardingHoldsItsShardAndTwoGatheredUnits) {
  constexpr int64_t kParameterBytes = 4 * LayerImpl::kWidth * LayerImpl::kWidth;
  constexpr int64_t kUnitBytes = kParameterBytes * LayerImpl::kWeights;
  constexpr int64_t kModelBytes = kUnitBytes * StackImpl::kLayers;
  static CountingAllocator counting(c10::GetCPUAllocator());
  c10::SetCPUAllocator(&counting, /*priority=*/100);
  for (const int world_size : {2, 4}) {
    const int64_t before = counting.live();
    comm::run_mesh(world_size, world_size, [&](comm::Mesh& mesh) {
      FsdpOptions options;
      options.wrap = wrap_by_type({"Layer"});
      auto model = fully_shard(Stack(), mesh, options);
      std::vector<at::Tensor> moments;  // optimizer state
      for (const auto& shard : model.parameters()) {
        moments.push_back(at::zeros_like(shard.detach()));
        moments.push_back(at::zeros_like(shard.detach()));
      }
      mesh.world().barrier();
      if (mesh.rank() == 0) counting.reset_peak();
      mesh.world().barrier();
      for (int step = 0; step < 2; ++step) {
        for (auto& shard : model.parameters()) shard.mutable_grad().reset();
        model(at::ones({1, LayerImpl::kWidth})).backward();
      }
      mesh.world().barrier();
    });
    // Weights, gradients and two moments, sharded; two units' worth gathered: the weights of
    // one and its gradients; one parameter's gradient on its way into them; the other ranks'
    // pieces while they are summed. Activations of one row are nothing beside that.
    const int64_t allowed_per_rank =
        4 * kModelBytes / world_size + 2 * kUnitBytes + 2 * kParameterBytes + (1 << 16);
    const int64_t pieces = 2 * kUnitBytes;
    EXPECT_LE(counting.peak() - before, world_size * (allowed_per_rank + pieces));
    EXPECT_GE(counting.peak() - before, 4 * kModelBytes);
  }
}

}  // namespace
}  // namespace lockstep::fsdp
