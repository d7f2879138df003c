#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "lockstep/base/env_var.h"
#include "lockstep/base/error.h"
#include "lockstep/base/log.h"
#include "lockstep/bench/allreduce.h"
#include "lockstep/bench/collective.h"
#include "lockstep/bench/line_rate.h"
#include "lockstep/bench/memory.h"
#include "lockstep/bench/output.h"
#include "lockstep/bench/report.h"
#include "lockstep/bench/report_text.h"
#include "lockstep/comm/cuda_backend.h"
#include "lockstep/comm/cuda_library.h"
#include "lockstep/comm/exchange_text.h"
#include "lockstep/comm/rendezvous.h"
#include "lockstep/train/rendezvous_options.h"

namespace lockstep::bench {
namespace {

// Before the first call to torch, which remembers for good whether there was CUDA.
bool use_gpu(const AllreduceOptions& options, int local_rank) {
  if (options.device == DeviceChoice::kCpu) return false;
  const comm::CudaLibrary& library = comm::load_cuda_library();
  if (options.device == DeviceChoice::kGpu && !library.loaded)
    throw ConfigError(fmt::format("bench: --device gpu, but {}. --device cpu measures Gloo", library.reason));
  if (library.loaded) comm::cuda_backend()->set_device(local_rank);
  return library.loaded;
}

std::vector<int> all_ranks(int world_size) {
  std::vector<int> ranks(static_cast<size_t>(world_size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

// The whole list of one worker: rank 0's is what is printed.
class Worker {
 public:
  Worker(const AllreduceOptions& options, const launch::WorkerEnv& env)
      : gpu_(use_gpu(options, env.local_rank)),
        device_(gpu_ ? at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(env.local_rank)) : at::kCPU),
        backend_(gpu_ ? comm::Backend::kNccl : comm::Backend::kGloo),
        rendezvous_(comm::Rendezvous::connect(train::rendezvous_options(env))),
        control_(rendezvous_->make_communicator("bench", all_ranks(env.world_size), backend_)),
        memory_(*control_, device_, env.local_world_size) {
    report_.options = options;
    report_.gpu = gpu_;
    report_.one_host = env.local_world_size == env.world_size;
    report_.algorithm = options.algorithm.value_or(gpu_ ? Algorithm::kLibrary : Algorithm::kLockstep);
    report_.line_rate = line_rate(options);
    const auto place = RankPlace::of_this_process(env.rank, env.local_rank, gpu_).to_json().dump();
    for (const std::string& text : comm::all_gather_text(*control_, place, device_))
      report_.ranks.push_back(RankPlace::from_json(Json::parse(text)));
    if (report_.algorithm == Algorithm::kLibrary)
      library_ = comm::LibraryCollectives::connect(train::rendezvous_options(env), backend_);
    if (env.rank == 0) output_.emplace(env);
  }

  void run() {
    print(head_text(report_));
    for (const Operation operation : report_.options.operations) measure_all_sizes(operation);
    print(skipped_text(report_));
    if (output_ && report_.options.json) output_->print(to_json(report_).dump(2));
    control_->barrier();  // nobody leaves while others still talk to its store
    for (const OperationReport& operation : report_.operations) {
      if (operation.wrong() > 0)
        throw GuardError(fmt::format(
            "bench: {} gave {} wrong elements (column #wrong). Memory, a link or the library damages data: "
            "do not train on this network before it is found",
            word(operation.operation), operation.wrong()));
    }
  }

 private:
  std::optional<LineRate> line_rate(const AllreduceOptions& options) const {
    if (options.line_rate_gbit_per_s) return LineRate{*options.line_rate_gbit_per_s, "--line-rate"};
    if (report_.one_host) return std::nullopt;
    return listed_line_rate("", env_var(gpu_ ? "NCCL_SOCKET_IFNAME" : "GLOO_SOCKET_IFNAME").value_or(""));
  }

  void measure_all_sizes(Operation operation) {
    print(columns_text(report_, operation));
    const Collective collective =
        library_ ? collective_of(*library_, operation) : collective_of(*control_, operation);
    OperationReport found{operation};
    Skipped too_small{operation}, too_large{operation};
    for (int64_t bytes = report_.options.min_bytes; bytes <= report_.options.max_bytes;
         bytes *= report_.options.factor) {
      const Size size = size_of(operation, bytes, control_->size());
      if (size.count == 0) {
        too_small.bytes.push_back(bytes);
      } else if (!too_large.bytes.empty() ||
                 !memory_.fits(working_bytes(operation, size, library_ == nullptr))) {
        too_large.bytes.push_back(bytes);
      } else {
        found.rows.push_back(measure_size(operation, size, collective));
        print(row_text(found.rows.back(), operation, control_->size()));
      }
      if (bytes > report_.options.max_bytes / report_.options.factor)
        break;  // the next would be past all numbers
    }
    print(foot_text(report_, found));
    too_small.reason = fmt::format("each of {} ranks has whole multiples of 16 bytes", control_->size());
    too_large.reason = fmt::format("a worker holds {} buffers of a size, {}",
                                   buffers_held(operation, library_ == nullptr), memory_.words());
    for (Skipped* skipped : {&too_small, &too_large}) {
      if (!skipped->bytes.empty()) report_.skipped.push_back(*skipped);
    }
    report_.operations.push_back(std::move(found));
  }

  Row measure_size(Operation operation, const Size& size, const Collective& collective) {
    Row row{size};
    for (auto [placement, measured] : {std::pair{Placement::kOutOfPlace, &row.out_of_place},
                                       std::pair{Placement::kInPlace, &row.in_place}}) {
      *measured =
          measure(operation, placement, size, report_.options.repetitions, collective, *control_, device_);
    }
    return row;
  }

  void print(const std::string& text) {
    if (output_ && !report_.options.json) output_->print(text);
  }

  bool gpu_;
  at::Device device_;
  comm::Backend backend_;
  std::unique_ptr<comm::Rendezvous> rendezvous_;
  std::unique_ptr<comm::Communicator> control_;
  std::unique_ptr<comm::LibraryCollectives> library_;
  Memory memory_;
  Report report_;
  std::optional<Output> output_;  // rank 0's
};

}  // namespace

int run_allreduce_worker(const AllreduceOptions& options, const launch::WorkerEnv& env) {
  log::set_rank(env.rank);
  Worker(options, env).run();
  return 0;
}

}  // namespace lockstep::bench
