#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "lockstep/comm/run_ranks.h"

namespace lockstep::comm {
namespace {

void with_world(int world_size, const std::function<void(Communicator&)>& body) {
  run_mesh(world_size, world_size, [&](Mesh& mesh) { body(mesh.world()); });
}

TEST(Communicator, AllGatherPutsEveryRanksPartInRankOrder) {
  for (const auto dtype : {at::kFloat, at::kDouble, at::kBFloat16, at::kLong}) {
    with_world(3, [&](Communicator& comm) {
      const auto in = at::full({5}, comm.rank() + 1, dtype);
      const auto out = at::empty({15}, dtype);
      comm.all_gather(out, in).wait();
      EXPECT_TRUE(at::equal(out, at::arange(1, 4).repeat_interleave(5).to(dtype)));
      EXPECT_EQ(comm.bytes_sent(), 2 * 5 * in.element_size());
    });
  }
}

TEST(Communicator, AllToAllSendsChunkRToRankR) {
  with_world(4, [](Communicator& comm) {
    const auto in = at::arange(4) + 10 * comm.rank();
    const auto out = at::empty({4}, at::kLong);
    comm.all_to_all(out, in).wait();
    EXPECT_TRUE(at::equal(out, 10 * at::arange(4) + comm.rank()));
  });
}

TEST(Communicator, ReduceScatterRoundsBf16OnlyOnce) {
  with_world(4, [](Communicator& comm) {
    // 256 + 1 + 1 + 1: in bf16 each 1 would round away; summed in float32 it is 259.
    const float value = comm.rank() == 0 ? 256.0F : 1.0F;
    const auto in = at::full({8}, value, at::kBFloat16);
    const auto out = at::empty({2}, at::kFloat);
    comm.reduce_scatter(out, in).wait();
    EXPECT_TRUE(at::equal(out, at::full({2}, 259.0F)));
    EXPECT_EQ(comm.bytes_sent(), 3 * 2 * 2);
  });
}

TEST(Communicator, ReduceScatterOfManyPiecesIsTheSum) {
  with_world(2, [](Communicator& comm) {
    const int64_t n = 3'000'001;  // several pieces, and nothing divides it
    const auto in = at::arange(2 * n, at::kFloat).remainder(1000) + comm.rank();
    const auto out = at::empty({n}, at::kFloat);
    comm.reduce_scatter(out, in).wait();
    EXPECT_TRUE(
        at::equal(out, 2 * at::arange(2 * n, at::kFloat).remainder(1000).narrow(0, comm.rank() * n, n) + 1));
  });
}

TEST(Communicator, AllReduceGivesEveryRankTheSameBits) {
  std::vector<at::Tensor> results(3);
  with_world(3, [&](Communicator& comm) {
    auto generator = at::make_generator<at::CPUGeneratorImpl>(comm.rank());
    const auto values = at::randn({7, 11}, generator, at::kDouble);
    comm.all_reduce(values).wait();
    results[comm.rank()] = values;
  });
  EXPECT_TRUE(at::equal(results[0], results[1]));
  EXPECT_TRUE(at::equal(results[0], results[2]));
}

TEST(Communicator, BroadcastGivesTheRootsValues) {
  with_world(3, [](Communicator& comm) {
    const auto values = at::full({3}, comm.rank());
    comm.broadcast(values, 2).wait();
    EXPECT_TRUE(at::equal(values, at::full({3}, 2)));
    comm.barrier();
  });
}

TEST(Mesh, AxesHoldTheRanksThatShareThem) {
  run_mesh(4, 2, [](Mesh& mesh) {
    const auto world_rank = at::full({1}, mesh.rank());
    const auto shard = at::empty({2}, at::kLong);
    const auto replicas = at::empty({2}, at::kLong);
    mesh.shard_gather().all_gather(shard, world_rank).wait();
    mesh.replicate().all_gather(replicas, world_rank).wait();
    const int first = mesh.rank() / 2 * 2;
    EXPECT_TRUE(at::equal(shard, at::arange(first, first + 2)));
    EXPECT_TRUE(at::equal(replicas, at::arange(mesh.rank() % 2, 4, 2)));
  });
}

// Ranks that all give the same, which is what a stand-in makes up, get the same as from it.
TEST(Mesh, AStandInGivesWhatRank0OfEqualRanksGets) {
  const auto run_all = [](Mesh& mesh) {
    const auto mine = at::arange(3, at::kDouble), all = at::empty({9}, at::kDouble),
               sum = at::empty({1}, at::kDouble);
    mesh.shard_gather().all_gather(all, mine).wait();
    mesh.shard_reduce().reduce_scatter(sum, mine).wait();
    const auto total = mine.clone();
    mesh.world().all_reduce(total).wait();
    mesh.replicate().all_reduce(total).wait();
    return at::cat({all, sum, total});
  };
  at::Tensor right;
  run_mesh(3, 3, [&](Mesh& mesh) {
    const auto got = run_all(mesh);
    if (mesh.rank() == 0) right = got;
  });
  Position position;
  const auto mesh = Mesh::stand_in(position, 3);
  EXPECT_EQ(mesh->world_size(), 3);
  EXPECT_EQ(mesh->shard_size(), 3);
  EXPECT_EQ(mesh->replicate_size(), 1);
  EXPECT_TRUE(at::equal(run_all(*mesh), right));
}

}  // namespace
}  // namespace lockstep::comm
