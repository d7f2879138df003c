#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <gmock/gmock.h>

#include <future>

#include "lockstep/base/error.h"
#include "lockstep/comm/ordered_sum.h"
#include "lockstep/comm/run_ranks.h"
#include "tests/gpu/gpu_test.h"

namespace lockstep {
namespace {

using comm::Communicator;

const auto kOnGpu = at::TensorOptions().dtype(at::kFloat).device(at::kCUDA);

class Nccl : public testing::GpuTest {
 protected:
  // One rank a thread, one GPU a rank.
  void run(int world_size, const std::function<void(Communicator&)>& body,
           std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
    if (!need(world_size)) return;
    comm::run_ranks(
        world_size,
        [&](comm::Rendezvous& rendezvous) {
          cuda().set_device(rendezvous.rank());
          std::vector<int> everyone;
          for (int rank = 0; rank < world_size; ++rank) everyone.push_back(rank);
          const auto communicator = rendezvous.make_communicator("test", everyone, comm::Backend::kNccl);
          body(*communicator);
        },
        timeout);
  }

  // The same values wherever they are asked for: what rank `rank` contributes.
  static at::Tensor contribution(int rank, int64_t n) {
    return at::arange(n, at::kFloat).mul(0.37).add(1.3 * rank).sin();
  }
  static std::vector<at::Tensor> contributions(int world_size, int64_t n) {
    std::vector<at::Tensor> all;
    for (int rank = 0; rank < world_size; ++rank) all.push_back(contribution(rank, n));
    return all;
  }
  static at::Tensor ordered_sum_on_cpu(const at::Tensor& parts) {
    auto sum = at::empty({parts.size(1)}, at::kFloat);
    comm::ordered_sum(sum, parts);
    return sum;
  }

  void gathers_in_rank_order(int world_size) {
    run(world_size, [&](Communicator& comm) {
      auto out = at::empty({world_size * 1001}, kOnGpu);
      comm.all_gather(out, contribution(comm.rank(), 1001).to(at::kCUDA)).wait();
      EXPECT_TRUE(at::equal(out.cpu(), at::stack(contributions(world_size, 1001)).view({-1})));
      EXPECT_EQ(comm.bytes_sent(), (world_size - 1) * 1001 * 4);
    });
  }

  void reduces_in_the_fixed_order(int world_size) {
    run(world_size, [&](Communicator& comm) {
      const int64_t n = 1001;
      auto out = at::empty({n}, kOnGpu);
      const auto in = contribution(comm.rank(), world_size * n).to(at::kBFloat16);
      comm.reduce_scatter(out, in.to(at::kCUDA)).wait();
      const auto parts = at::stack(contributions(world_size, world_size * n)).to(at::kBFloat16);
      EXPECT_TRUE(at::equal(out.cpu(), ordered_sum_on_cpu(parts.narrow(1, comm.rank() * n, n).contiguous())));
    });
  }

  void all_reduces_small_and_large_alike(int world_size) {
    run(world_size, [&](Communicator& comm) {
      for (const int64_t n : {1, 3, 1001, 100'003}) {
        auto values = contribution(comm.rank(), n).to(at::kCUDA);
        comm.all_reduce(values).wait();
        EXPECT_TRUE(at::equal(values.cpu(), ordered_sum_on_cpu(at::stack(contributions(world_size, n)))))
            << n;
      }
    });
  }
};

TEST_F(Nccl, OneGpuGathersInRankOrder) { gathers_in_rank_order(1); }
TEST_F(Nccl, TwoGpusGatherInRankOrder) { gathers_in_rank_order(2); }
TEST_F(Nccl, OneGpuReducesInTheFixedOrder) { reduces_in_the_fixed_order(1); }
TEST_F(Nccl, TwoGpusReduceInTheFixedOrder) { reduces_in_the_fixed_order(2); }
TEST_F(Nccl, OneGpuAllReduces) { all_reduces_small_and_large_alike(1); }
TEST_F(Nccl, TwoGpusAllReduceWithTheSameBits) { all_reduces_small_and_large_alike(2); }

TEST_F(Nccl, ExchangesAndBroadcasts) {
  run(2, [&](Communicator& comm) {
    auto out = at::empty({2 * 5}, kOnGpu);
    comm.all_to_all(out, at::full({2 * 5}, comm.rank(), kOnGpu)).wait();
    EXPECT_TRUE(at::equal(out.cpu(), at::arange(2, at::kFloat).repeat_interleave(5)));
    auto value = at::full({3}, comm.rank() + 7, kOnGpu);
    comm.broadcast(value, 1).wait();
    EXPECT_TRUE(at::equal(value.cpu(), at::full({3}, 8.0F)));
    comm.barrier();
  });
}

// Processes do, in tests/gpu/tiny_losses.py.
TEST_F(Nccl, ThreadsOfAProcessDoNotReadEachOthersMemory) {
  run(2, [&](Communicator& comm) { EXPECT_FALSE(comm.share({at::ones({7}, kOnGpu)})); });
}

// The caller's stream goes on while a collective runs; a result is complete only after wait.
TEST_F(Nccl, OperationsUnderWayKeepTheirOrder) {
  run(2, [&](Communicator& comm) {
    const int64_t n = 1 << 20;
    std::vector<at::Tensor> shards;
    std::vector<comm::Work> under_way;
    for (int i = 0; i < 8; ++i) {
      shards.push_back(at::empty({n}, kOnGpu));
      under_way.push_back(comm.reduce_scatter(shards.back(), at::full({2 * n}, i + comm.rank(), kOnGpu)));
    }
    for (int i = 0; i < 8; ++i) {
      under_way[static_cast<size_t>(i)].wait();
      EXPECT_TRUE(at::equal(shards[static_cast<size_t>(i)], at::full({n}, 2 * i + 1, kOnGpu))) << i;
    }
  });
}

TEST_F(Nccl, APeerThatDoesNotComeIsAHangThatNamesTheOperation) {
  if (!need(2)) return;
  std::string message;
  std::promise<void> seen;
  const auto wait_in_vain = [&](Communicator& comm) {
    try {
      comm.barrier();
    } catch (const HangError& error) {
      message = error.what();
    }
    EXPECT_THROW(comm.all_gather(at::empty({2 * 8}, kOnGpu), at::full({8}, 1, kOnGpu)), HangError)
        << "broken for good";
  };
  run(
      2,
      [&](Communicator& comm) {
        comm.all_gather(at::empty({2 * 8}, kOnGpu), at::full({8}, 1, kOnGpu)).wait();
        if (comm.rank() == 1) {
          seen.get_future().wait();
          return;
        }
        try {
          wait_in_vain(comm);
        } catch (const std::exception& error) {
          ADD_FAILURE() << error.what();
        }
        seen.set_value();  // whatever happened: rank 1 waits for it
      },
      std::chrono::seconds(5));
  EXPECT_THAT(message, ::testing::HasSubstr("rank 0"));
  EXPECT_THAT(message, ::testing::HasSubstr("barrier"));
}

TEST_F(Nccl, AGpuThatIsNotThereIsRefusedByNumber) {
  const int count = cuda().device_count();
  try {
    cuda().set_device(count);
    FAIL() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("needs GPU " + std::to_string(count)));
  }
}

}  // namespace
}  // namespace lockstep
