// lockstep bench allreduce, lockstep bench train; transport has a file of its own
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lockstep/base/byte_size.h"
#include "lockstep/base/error.h"
#include "lockstep/bench/allreduce.h"
#include "lockstep/bench/train_bench.h"
#include "lockstep/cli/commands.h"
#include "lockstep/launch/local_launcher.h"

namespace lockstep::cli {
namespace {

using bench::Algorithm;
using bench::AllreduceOptions;
using bench::DeviceChoice;

// As they stand on the command line.
struct AllreduceArguments {
  std::string min_bytes = "8", max_bytes = "8GiB", op = "all_reduce", num_workers = "auto", device = "auto",
              algorithm = "auto";
  int64_t factor = 2;
  int iterations = 20, warmup = 5;
  std::optional<double> line_rate;
  bool json = false;
};

// Also nccl-tests' way of writing, where K, M and G are powers of 1024.
int64_t parse_size(const std::string& text) {
  const bool short_unit = !text.empty() && std::string("kKmMgG").find(text.back()) != std::string::npos;
  if (!short_unit) return parse_bytes(text);
  const char unit = static_cast<char>(std::toupper(text.back()));
  return parse_bytes(text.substr(0, text.size() - 1) + unit + "iB");
}

std::optional<int> parse_workers(const std::string& text) {
  if (text == "auto") return std::nullopt;
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    throw ConfigError(fmt::format("bench: --num-workers is \"{}\": it takes auto or a number", text));
  return number;
}

AllreduceOptions options_of(const AllreduceArguments& arguments) {
  static const std::map<std::string, DeviceChoice> devices = {
      {"auto", DeviceChoice::kAuto}, {"cpu", DeviceChoice::kCpu}, {"gpu", DeviceChoice::kGpu}};
  AllreduceOptions options;
  options.min_bytes = parse_size(arguments.min_bytes);
  options.max_bytes = parse_size(arguments.max_bytes);
  options.factor = arguments.factor;
  options.repetitions = {arguments.iterations, arguments.warmup};
  options.operations = bench::parse_operations(arguments.op);
  options.num_workers = parse_workers(arguments.num_workers);
  if (arguments.algorithm != "auto")
    options.algorithm = arguments.algorithm == "library" ? Algorithm::kLibrary : Algorithm::kLockstep;
  options.device = devices.at(arguments.device);
  options.line_rate_gbit_per_s = arguments.line_rate;
  options.json = arguments.json;
  options.validate();
  return options;
}

// The workers' command line: the driver's.
std::vector<std::string> worker_argv(const AllreduceArguments& arguments) {
  std::vector<std::string> argv = {launch::own_executable(), "bench", "allreduce"};
  const std::pair<const char*, std::string> options[] = {{"--min-bytes", arguments.min_bytes},
                                                         {"--max-bytes", arguments.max_bytes},
                                                         {"--factor", std::to_string(arguments.factor)},
                                                         {"--iters", std::to_string(arguments.iterations)},
                                                         {"--warmup-iters", std::to_string(arguments.warmup)},
                                                         {"--op", arguments.op},
                                                         {"--device", arguments.device},
                                                         {"--algorithm", arguments.algorithm}};
  for (const auto& [name, value] : options) {
    argv.emplace_back(name);
    argv.push_back(value);
  }
  if (arguments.line_rate) argv.insert(argv.end(), {"--line-rate", fmt::format("{}", *arguments.line_rate)});
  if (arguments.json) argv.emplace_back("--json");
  return argv;
}

// The same command line is the driver's and its workers'; the environment tells them apart.
int allreduce_in_role(const AllreduceArguments& arguments) {
  const AllreduceOptions options = options_of(arguments);
  if (const auto env = launch::WorkerEnv::from_environment()) return run_allreduce_worker(options, *env);
  return run_allreduce_driver(options, worker_argv(arguments));
}

void add_allreduce(CLI::App& bench, Action& action) {
  CLI::App* command =
      bench.add_subcommand("allreduce", "Time all-reduce, all-gather and reduce-scatter, as nccl-tests does");
  auto arguments = std::make_shared<AllreduceArguments>();
  command->add_option("-b,--min-bytes", arguments->min_bytes, "The smallest size [8]")->type_name("BYTES");
  command->add_option("-e,--max-bytes", arguments->max_bytes, "The largest size [8GiB]")->type_name("BYTES");
  command->add_option("-f,--factor", arguments->factor, "From one size to the next [2]")->type_name("N");
  command->add_option("-n,--iters", arguments->iterations, "Timed calls at a size [20]")->type_name("N");
  command->add_option("-w,--warmup-iters", arguments->warmup, "Calls before those [5]")->type_name("N");
  command->add_option("--op", arguments->op, "all_reduce, all_gather, reduce_scatter or all [all_reduce]")
      ->type_name("OP");
  command
      ->add_option("--num-workers", arguments->num_workers,
                   "Workers on this machine [auto: one for each GPU, else 2]")
      ->type_name("N");
  command->add_option("--device", arguments->device, "auto, cpu (Gloo) or gpu (NCCL) [auto]")
      ->check(CLI::IsMember({"auto", "cpu", "gpu"}))
      ->type_name("DEVICE");
  command
      ->add_option(
          "--algorithm", arguments->algorithm,
          "lockstep (training's own sums) or library (Gloo's or NCCL's) [library on GPU, else lockstep]")
      ->check(CLI::IsMember({"auto", "lockstep", "library"}))
      ->type_name("WHOSE");
  command
      ->add_option("--line-rate", arguments->line_rate,
                   "What a host's links carry, to judge by [what the kernel lists]")
      ->type_name("GBIT/S");
  command->add_flag("--json", arguments->json, "Print one JSON document instead of the table");
  command->footer(
      "Starts the workers itself, or is one of them where torchrun's environment is set. Data is checked: "
      "wrong\n"
      "elements end it with exit code 6. Times, bandwidths and columns are those of nccl-tests.\n\n"
      "Examples:\n"
      "  lockstep bench allreduce\n"
      "  lockstep bench allreduce -b 1M -e 1G --op all --line-rate 100\n"
      "  lockstep bench allreduce --algorithm lockstep         what training's own sums cost\n"
      "  torchrun --no-python --nnodes 2 --nproc-per-node 4 ... lockstep bench allreduce    two machines");
  command->callback([=, &action] { action = [=] { return allreduce_in_role(*arguments); }; });
}

using bench::TrainOptions;

// The workers' command line: the driver's.
std::vector<std::string> worker_argv(const TrainOptions& options) {
  std::vector<std::string> argv = {launch::own_executable(), "bench", "train", "--model", options.model};
  const std::pair<const char*, int64_t> numbers[] = {{"--batch", options.batch},
                                                     {"--seq", options.sequence_length},
                                                     {"--steps", options.steps},
                                                     {"--warmup", options.warmup},
                                                     {"--num-workers", options.num_workers}};
  for (const auto& [name, value] : numbers) argv.insert(argv.end(), {name, std::to_string(value)});
  if (options.stand_for) argv.insert(argv.end(), {"--stand-for", std::to_string(*options.stand_for)});
  if (options.floor_ms) argv.insert(argv.end(), {"--floor", fmt::format("{}", *options.floor_ms)});
  if (!options.trace.empty()) argv.insert(argv.end(), {"--trace", options.trace});
  if (options.json) argv.emplace_back("--json");
  argv.insert(argv.end(), options.overrides.begin(), options.overrides.end());
  return argv;
}

int train_in_role(const TrainOptions& options) {
  options.validate();
  if (const auto env = launch::WorkerEnv::from_environment()) {
    TrainOptions of_all = options;
    of_all.num_workers = env->world_size;
    return run_train_worker(of_all, *env);
  }
  return run_train_driver(options, worker_argv(options));
}

void add_train_bench(CLI::App& bench, Action& action) {
  CLI::App* command = bench.add_subcommand("train", "Time training steps of a model on random tokens");
  auto options = std::make_shared<TrainOptions>();
  command->add_option("--model", options->model, "Its folder; of it config.json alone is read")
      ->required()
      ->type_name("FOLDER");
  command->add_option("--batch", options->batch, "Rows of a micro-batch on a worker [8]")->type_name("ROWS");
  command->add_option("--seq", options->sequence_length, "Tokens a row [2048]")->type_name("TOKENS");
  command->add_option("--steps", options->steps, "Timed steps [15]")->type_name("N");
  command->add_option("--warmup", options->warmup, "Steps before those [5]")->type_name("N");
  command->add_option("--num-workers", options->num_workers, "Workers on this machine [1]")->type_name("N");
  command
      ->add_option("--stand-for", options->stand_for,
                   "One worker takes the memory of rank 0 of so many, and sends nothing")
      ->type_name("RANKS");
  command
      ->add_option("--floor", options->floor_ms,
                   "What a step takes at least, measured elsewhere; its share is told")
      ->type_name("MS");
  command
      ->add_option(
          "--trace", options->trace,
          "Trace one more step of worker 0 into this file, for Perfetto; tell kernels' times by class")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "Print one JSON document instead of the lines");
  command
      ->add_option("KEY=VALUE", options->overrides,
                   "Keys of the recipe (docs/recipe.md), such as determinism=run or sharding.strategy=full")
      ->type_name("");
  command->footer(
      "Random weights in the model's shape; a step is forward, backward, clipping and AdamW, timed from an "
      "idle\n"
      "device to an idle device. Starts the workers itself, or is one of them where torchrun's environment "
      "is set.\n\n"
      "Examples:\n"
      "  lockstep bench train --model bench/qwen2.5-1.5b --batch 8 --seq 2048\n"
      "  lockstep bench train --model bench/qwen2.5-1.5b --num-workers 2 sharding.strategy=full "
      "optimizer.max_grad_norm=0");
  command->callback([=, &action] { action = [=] { return train_in_role(*options); }; });
}

}  // namespace

void add_bench(CLI::App& root, Action& action) {
  CLI::App* bench =
      root.add_subcommand("bench", "Measure training's steps, and the network that it would use");
  bench->require_subcommand(0, 1);
  bench->footer("`lockstep bench COMMAND --help` says more.");
  add_train_bench(*bench, action);
  add_allreduce(*bench, action);
  add_bench_transport(*bench, action);
}

}  // namespace lockstep::cli
