#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "lockstep/comm/run_ranks.h"

namespace lockstep::comm {
namespace {

TEST(LostPeer, IsACommErrorWithRankOperationAndGroup) {
  // Rank 1 leaves without a word; rank 0 waits for it.
  try {
    run_ranks(
        2,
        [](Rendezvous& rendezvous) {
          Mesh mesh(rendezvous, 2, Backend::kGloo);
          if (rendezvous.rank() == 1) return;
          const at::Tensor values = at::ones({4});
          mesh.world().all_reduce(values).wait();
        },
        std::chrono::seconds(5));
    FAIL() << "the lost peer went unnoticed";
  } catch (const CommError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("rank 0 lost a peer in all_reduce of group world"));
  }
}

TEST(LostPeer, BreaksTheCommunicatorForGood) {
  run_ranks(
      2,
      [](Rendezvous& rendezvous) {
        Mesh mesh(rendezvous, 2, Backend::kGloo);
        if (rendezvous.rank() == 1) return;
        EXPECT_THROW(mesh.world().barrier(), CommError);
        EXPECT_THROW(mesh.world().barrier(), CommError);
      },
      std::chrono::seconds(5));
}

TEST(LostPeer, IsWaitedForAsLongAsWasSetLast) {
  static constexpr auto kRendezvous = std::chrono::minutes(5);
  run_ranks(
      2,
      [](Rendezvous& rendezvous) {
        Mesh mesh(rendezvous, 2, Backend::kGloo);
        mesh.world().barrier();
        mesh.set_timeout(std::chrono::milliseconds(300));
        if (rendezvous.rank() == 0) {
          EXPECT_THROW(mesh.world().barrier(), HangError);
          rendezvous.post("given up", "");
        } else {
          rendezvous.fetch("given up", kRendezvous, "rank 0");
        }
      },
      kRendezvous);
}

}  // namespace
}  // namespace lockstep::comm
