// Training goes on while a save of its state fails, at each call that the save makes, on each rank.
#include <ATen/ops/arange.h>
#include <gmock/gmock.h>

#include <deque>
#include <iostream>
#include <sstream>

#include "lockstep/checkpoint/survey.h"
#include "lockstep/comm/run_ranks.h"
#include "lockstep/fsdp/sharded.h"
#include "lockstep/train/checkpoint_saver.h"
#include "lockstep/train/step_exchange.h"
#include "tests/base/temporary_folder.h"
#include "tests/checkpoint/saved_run.h"
#include "tests/fsdp/awkward_net.h"
#include "tests/storage/faulty_store.h"
#include "tests/storage/get_text.h"
#include "tests/storage/memory_store.h"

namespace lockstep::train {
namespace {

using storage::Fault;
using storage::FaultyStore;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int kWorld = 3;
constexpr int64_t kSteps = 6;  // saved after every second one; what fails is the save of step 4

// A run of three ranks over one store; each reaches it in its own way.
class Training {
 public:
  Training(int failing_rank, const Fault& fault) {
    for (int rank = 0; rank < kWorld; ++rank) {
      stores_.emplace_back(shared_, rank == failing_rank ? fault : Fault{});
    }
    record::RunDirectory::create(folder_ / "run", "");
    comm::run_mesh(kWorld, kWorld, [&](comm::Mesh& mesh) { train(mesh); });
  }

  storage::ObjectStore& store() { return shared_; }
  const std::vector<double>& losses() const { return losses_; }  // of rank 0, by step
  // The call of `rank` before which the save of step 4 began, and the one that it ended with.
  std::pair<int64_t, int64_t> calls_of_the_save(int rank) const {
    return {calls_.at({rank, 4}), calls_.at({rank, 6})};
  }
  std::string call_text(int rank, int64_t call) const {
    return stores_[static_cast<size_t>(rank)].call_text(call);
  }

  std::vector<int64_t> steps_of_events(const std::string& name) const {
    const auto text =
        storage::get_text(record::RunDirectory::open(folder_ / "run").store(), record::events_key(1));
    std::vector<int64_t> steps;
    std::istringstream lines(text.value_or(""));
    for (std::string line; std::getline(lines, line);) {
      const Json event = Json::parse(line);
      if (event.at("event") == name) steps.push_back(event.at("step").get<int64_t>());
    }
    return steps;
  }

 private:
  void train(comm::Mesh& mesh) {
    const int rank = mesh.rank();
    FaultyStore& store = stores_[static_cast<size_t>(rank)];
    fsdp::FsdpOptions options;
    options.wrap = fsdp::wrap_by_type({"Block"});
    options.compute = options.master = options.reduce = at::kDouble;
    auto model = fsdp::fully_shard(fsdp::testing::AwkwardNet(), mesh, options);
    optim::AdamW optimizer(model.parameters(), {.lr = 0.01});
    TrainingState state(model.state(), optimizer);

    launch::WorkerEnv env;
    env.rank = rank;
    env.run_dir = folder_ / "run";
    Reporter reporter(env);
    const std::string token = "0123456789abcdef";
    std::optional<checkpoint::Committer> committer;
    if (rank == 0) {
      const checkpoint::RetentionRule rule{.keep_last = 9};
      committer.emplace(store, checkpoint::Claim{1, token, std::nullopt, ""}, rule);
    }
    CheckpointSaver saver(mesh, at::kCPU, store, reporter, state, committer ? &*committer : nullptr,
                          /*generation=*/1, token, Json::object());

    for (int64_t step = 1; step <= kSteps; ++step) {
      const at::Tensor loss = model((at::arange(4) + rank + step).remainder(11));
      if (rank == 0) losses_.push_back(loss.item<double>());
      loss.backward();
      const at::Tensor sum = exchange(mesh, loss.detach(), {.saving = saver.status()});
      saver.advance(read_news(sum, kWorld).saving);
      optimizer.step();
      optimizer.zero_grad();
      if (step % 2 != 0) continue;
      saver.settle();  // so that a rank's calls have the same numbers in every run
      mesh.world().barrier();
      note_calls(rank, step, store.calls());
      if (rank == 0 && step == 6) expect_the_first_checkpoint();
      saver.save(step, {{"updates", state.updates()}}, Json::object());
    }
    saver.finish();
  }

  void note_calls(int rank, int64_t step, int64_t calls) {
    const std::lock_guard lock(mutex_);
    calls_[{rank, step}] = calls;
  }

  void expect_the_first_checkpoint() {
    for (const auto& manifest : checkpoint::survey(shared_).committed) {
      if (manifest.id.step != 2) continue;
      for (const auto& shard : manifest.shards) checkpoint::verify_shard(shared_, manifest, shard);
      return;
    }
    ADD_FAILURE() << "the checkpoint of step 2 is gone";
  }

  std::vector<double> losses_;
  TemporaryFolder folder_;
  storage::MemoryStore shared_;
  std::deque<FaultyStore> stores_;  // by rank
  std::mutex mutex_;
  std::map<std::pair<int, int64_t>, int64_t> calls_;  // by rank and step; guarded by mutex_
};

std::vector<std::string> newest_hashes(storage::ObjectStore& store) {
  std::vector<std::string> hashes;
  const checkpoint::Survey found = checkpoint::survey(store);
  for (const auto& shard : found.committed.at(0).shards) hashes.push_back(shard.sha256);
  return hashes;
}

TEST(FailingStorage, CostsTheSaveThatItHitAndNothingElse) {
  Training undisturbed(0, {});
  ASSERT_THAT(checkpoint::steps(undisturbed.store()), ElementsAre(6, 4, 2));
  int points = 0;
  for (const int rank : {0, 1}) {
    const auto [before, last] = undisturbed.calls_of_the_save(rank);
    ASSERT_LT(before, last);
    for (int64_t call = before + 1; call <= last; ++call) {
      for (const auto kind : storage::kErrors) {
        SCOPED_TRACE(std::string(to_text(kind)) + " in rank " + std::to_string(rank) + "'s " +
                     undisturbed.call_text(rank, call));
        Training run(rank, {.at_call = call, .kind = kind});
        ++points;
        EXPECT_EQ(run.losses(), undisturbed.losses());  // the step where bits part, if they do
        EXPECT_THAT(run.steps_of_events("checkpoint_failed"), ElementsAre(4));
        EXPECT_THAT(run.steps_of_events("checkpoint"), ElementsAre(2, 6));
        EXPECT_THAT(checkpoint::steps(run.store()), ElementsAre(6, 2));
        EXPECT_THAT(checkpoint::survey(run.store()).unfinished, IsEmpty());
        EXPECT_EQ(newest_hashes(run.store()), newest_hashes(undisturbed.store()));
      }
    }
  }
  std::cout << points << " points of failure tried\n";
}

}  // namespace
}  // namespace lockstep::train
