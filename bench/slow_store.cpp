// How much a save to a slow store costs the steps beside it:
//
//   slow_store RECIPE [KEY=VALUE...] FOLDER [saves=3] [ms a call=200] [MiB/s=400]
//
// One worker trains the recipe's model (of random weights, on random tokens) and saves it again and again to
// a store in FOLDER that takes so long for each call and byte. Prints a JSON object: the median step without
// a save, and for each save the mean of the steps from its begin, the copy into host memory included, to the
// commit. The first save also reserves the host memory.
#include <ATen/ops/arange.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/zeros.h>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <numeric>
#include <thread>

#include "lockstep/base/clock.h"
#include "lockstep/comm/cuda_library.h"
#include "lockstep/fsdp/sharded.h"
#include "lockstep/launch/report_errors.h"
#include "lockstep/launch/store_socket.h"
#include "lockstep/models/causal_lm.h"
#include "lockstep/train/checkpoint_saver.h"
#include "lockstep/train/engine.h"
#include "lockstep/train/step_exchange.h"

using namespace lockstep;

namespace {

class SlowStore : public storage::ObjectStore {
 public:
  SlowStore(const std::string& folder, double seconds_a_call, double bytes_per_s)
      : inner_(storage::open_store(folder)), seconds_a_call_(seconds_a_call), bytes_per_s_(bytes_per_s) {}

  void put(const storage::Key& key, std::span<const std::byte> value) override {
    delay(value.size());
    inner_->put(key, value);
  }
  std::optional<storage::Bytes> get(const storage::Key& key, storage::ByteRange range) override {
    auto value = inner_->get(key, range);
    delay(value ? value->size() : 0);
    return value;
  }
  std::vector<storage::Key> list(const storage::Key& prefix) override {
    delay(0);
    return inner_->list(prefix);
  }
  void remove(const storage::Key& key) override {
    delay(0);
    inner_->remove(key);
  }
  void append(const storage::Key& key, std::span<const std::byte> segment) override {
    delay(segment.size());
    inner_->append(key, segment);
  }
  void sweep(const storage::Key& prefix) override {
    delay(0);
    inner_->sweep(prefix);
  }

 private:
  void delay(size_t num_bytes) const {
    const double seconds = seconds_a_call_ + static_cast<double>(num_bytes) / bytes_per_s_;
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }

  std::unique_ptr<storage::ObjectStore> inner_;
  double seconds_a_call_, bytes_per_s_;
};

struct Arguments {
  std::string recipe, folder;
  std::vector<std::string> overrides;
  int saves = 3;
  double ms_a_call = 200, mib_per_s = 400;

  Arguments(int argc, char** argv) {
    std::vector<std::string> plain;
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      (word.find('=') == word.npos ? plain : overrides).push_back(word);
    }
    if (plain.size() < 2)
      throw ConfigError("usage: slow_store RECIPE [KEY=VALUE...] FOLDER [saves] [ms] [MiB/s]");
    recipe = plain[0];
    folder = plain[1];
    if (plain.size() > 2) saves = std::stoi(plain[2]);
    if (plain.size() > 3) ms_a_call = std::stod(plain[3]);
    if (plain.size() > 4) mib_per_s = std::stod(plain[4]);
  }
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

int run(const Arguments& arguments) {
  const Recipe recipe = Recipe::load(arguments.recipe, arguments.overrides);
  const bool use_gpu = recipe.scaling.use_gpu.value_or(true) && comm::load_cuda_library().loaded;
  const train::RunPlan plan = train::plan_run_of(recipe, 1, use_gpu);
  auto socket = launch::StoreSocket::listen();
  launch::WorkerEnv env{.master_port = socket.port, .run_dir = arguments.folder + "/run"};
  env.store_fd = socket.fd.release();
  record::RunDirectory::create(env.run_dir, "");
  train::Engine engine(recipe, plan, env);
  engine.connect();

  auto model = fsdp::fully_shard(models::CausalLM::from_pretrained(recipe.model), engine.mesh(),
                                 engine.fsdp_options());
  optim::AdamW optimizer(model.parameters(), {.lr = 1e-5});
  const train::TrainingState state(*model.shared_state(), optimizer);
  train::Reporter reporter(env);
  SlowStore store(arguments.folder + "/checkpoints", arguments.ms_a_call / 1000,
                  arguments.mib_per_s * (1 << 20));
  const std::string token = checkpoint::make_token();
  checkpoint::Committer committer(store, {1, token, std::nullopt, ""}, {.keep_last = 1});
  train::CheckpointSaver saver(engine.mesh(), engine.device(), store, reporter, state, &committer, 1, token,
                               Json::object());

  const int64_t rows = recipe.train.micro_batch, length = recipe.data.sequence_length;
  const at::Tensor tokens = at::randint(model.module()->spec().vocab_size, {rows, length}, at::kLong);
  const models::ModelInput input{tokens, at::arange(length).expand({rows, length}).contiguous(),
                                 at::zeros({rows, length}, at::kInt), tokens.roll(-1, 1)};
  bool saving = false;
  const auto step = [&] {
    const Stopwatch stopwatch;
    const at::Tensor loss = model->loss(input) / static_cast<double>(rows * length);
    loss.backward();
    const at::Tensor sum =
        train::exchange(engine.mesh(), loss.detach().to(at::kDouble), {.saving = saver.status()});
    const auto news = train::read_news(sum, 1);
    saver.advance(news.saving);
    saving = saving && news.saving.committed == 0;
    optimizer.step();
    optimizer.zero_grad();
    return stopwatch.seconds() * 1000;
  };

  constexpr int kWarmUp = 5, kQuiet = 20;
  for (int i = 0; i < kWarmUp; ++i) step();
  Json saves = Json::array();
  std::vector<double> quiet;
  for (int save = 1; save <= arguments.saves; ++save) {
    for (int i = 0; i < kQuiet; ++i) quiet.push_back(step());
    std::vector<double> beside;
    Stopwatch snapshot;
    saving = true;
    saver.save(save, {{"updates", state.updates()}}, Json::object());
    const double snapshot_ms = snapshot.seconds() * 1000;
    const Stopwatch whole;
    while (saving) beside.push_back(step());
    const double total_ms = std::accumulate(beside.begin(), beside.end(), snapshot_ms);
    saves.push_back({{"steps", beside.size()},
                     {"mean_step_ms", total_ms / static_cast<double>(beside.size())},
                     {"median_step_ms", median(beside)},
                     {"held_up_ms", snapshot_ms},
                     {"seconds", whole.seconds()}});
  }
  saver.finish();
  // A save that begins before the one before it has ended waits for it, and says so.
  saver.save(arguments.saves + 1, {{"updates", state.updates()}}, Json::object());
  Stopwatch waited;
  saver.save(arguments.saves + 2, {{"updates", state.updates()}}, Json::object());
  const double second_ms = waited.seconds() * 1000;
  saver.finish();
  int64_t bytes = 0;
  for (const auto& slice : state.share()) bytes += slice.slice.num_bytes();
  std::cout << Json{{"device", engine.device().str()},  {"bytes", bytes},
                    {"ms_a_call", arguments.ms_a_call}, {"mib_per_s", arguments.mib_per_s},
                    {"quiet_step_ms", median(quiet)},   {"saves", saves},
                    {"save_into_a_save_ms", second_ms}}
                   .dump(2)
            << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return launch::report_errors([&] { return run(Arguments(argc, argv)); });
}
