#include "lockstep/bench/report.h"

#include <unistd.h>

#include <algorithm>

#include "lockstep/base/build_info.h"
#include "lockstep/base/cuda_driver.h"
#include "lockstep/record/host.h"

namespace lockstep::bench {
namespace {

Json to_json(const Measured& measured, Operation operation, const Size& size, int num_ranks) {
  return {{"time", measured.seconds * 1e6},
          {"alg_bw", measured.algorithm_bandwidth(size)},
          {"bus_bw", measured.bus_bandwidth(operation, size, num_ranks)},
          {"nwrong", measured.wrong}};
}

Json to_json(const OperationReport& report, int num_ranks) {
  Json results = Json::array();
  for (const Row& row : report.rows) {
    results.push_back({{"size", row.size.bytes},
                       {"count", row.size.count},
                       {"type", "float"},
                       {"redop", redop(report.operation)},
                       {"root", -1},
                       {"out_of_place", to_json(row.out_of_place, report.operation, row.size, num_ranks)},
                       {"in_place", to_json(row.in_place, report.operation, row.size, num_ranks)}});
  }
  return {{"name", program(report.operation)},
          {"results", results},
          {"out_of_bounds", {{"count", report.wrong()}, {"okay", report.wrong() == 0}}},
          {"average_bus_bandwidth", {{"bandwidth", report.average_bus_bandwidth(num_ranks)}}},
          {"best_bus_bandwidth", {{"bandwidth", report.best_bus_bandwidth(num_ranks)}}}};
}

template <typename Fold>
void for_each_bandwidth(const OperationReport& report, int num_ranks, const Fold& fold) {
  for (const Row& row : report.rows) {
    for (const Measured* measured : {&row.out_of_place, &row.in_place})
      fold(measured->bus_bandwidth(report.operation, row.size, num_ranks));
  }
}

}  // namespace

RankPlace RankPlace::of_this_process(int rank, int local_rank, bool gpu) {
  const auto host = record::HostFacts::of_this_machine();
  RankPlace place{.rank = rank, .pid = ::getpid(), .host = host.hostname, .device = local_rank};
  place.address = "cpu";
  place.model = host.cpu_model;
  if (!gpu) return place;
  const CudaDriver driver = CudaDriver::load();
  if (static_cast<size_t>(local_rank) >= driver.devices.size()) return place;  // the driver names none
  const auto& device = driver.devices[static_cast<size_t>(local_rank)];
  place.address = device.bus_id;
  place.model = device.name;
  return place;
}

Json RankPlace::to_json() const {
  return {{"rank", rank},        {"group", 0},       {"pid", pid},
          {"hostname", host},    {"device", device}, {"device_hex", address},
          {"device_info", model}};
}

RankPlace RankPlace::from_json(const Json& json) {
  return {json.at("rank"),   json.at("pid"),        json.at("hostname"),
          json.at("device"), json.at("device_hex"), json.at("device_info")};
}

int64_t OperationReport::wrong() const {
  int64_t wrong = 0;
  for (const Row& row : rows) wrong += row.out_of_place.wrong + row.in_place.wrong;
  return wrong;
}

double OperationReport::average_bus_bandwidth(int num_ranks) const {
  double sum = 0;
  for_each_bandwidth(*this, num_ranks, [&](double bandwidth) { sum += bandwidth; });
  return rows.empty() ? 0 : sum / static_cast<double>(2 * rows.size());
}

double OperationReport::best_bus_bandwidth(int num_ranks) const {
  double best = 0;
  for_each_bandwidth(*this, num_ranks, [&](double bandwidth) { best = std::max(best, bandwidth); });
  return best;
}

Json to_json(const Report& report) {
  Json devices = Json::array(), tests = Json::array(), skipped = Json::array();
  for (const RankPlace& place : report.ranks) devices.push_back(place.to_json());
  for (const OperationReport& operation : report.operations)
    tests.push_back(to_json(operation, report.num_ranks()));
  for (const Skipped& sizes : report.skipped)
    skipped.push_back({{"name", program(sizes.operation)}, {"sizes", sizes.bytes}, {"reason", sizes.reason}});
  const AllreduceOptions& options = report.options;
  Json json = {{"version", 1},
               {"lockstep", kVersion},
               {"commit", kCommit},
               {"backend", report.gpu ? "nccl" : "gloo"},
               {"algorithm", report.algorithm == Algorithm::kLibrary ? "library" : "lockstep"},
               {"config",
                {{"minimum_bytes", options.min_bytes},
                 {"maximum_bytes", options.max_bytes},
                 {"step_factor", options.factor},
                 {"warmup_iters", options.repetitions.warmup},
                 {"iterations", options.repetitions.iterations},
                 {"devices", devices}}},
               {"one_host", report.one_host},
               {"line_rate", nullptr},
               {"tests", tests},
               {"skipped", skipped}};
  if (report.line_rate)
    json["line_rate"] = {{"gbit_per_s", report.line_rate->gbit_per_s}, {"source", report.line_rate->source}};
  return json;
}

}  // namespace lockstep::bench
