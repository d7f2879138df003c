#include "lockstep/train/non_finite.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/zeros.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "lockstep/base/json.h"
#include "lockstep/comm/exchange_text.h"

namespace lockstep::train {
namespace {

bool is_finite(const at::Tensor& values) { return at::isfinite(values).all().item<bool>(); }

}  // namespace

std::vector<int64_t> non_finite_rows(const std::vector<MicroBatchLoss>& micro_batches, comm::Mesh& mesh,
                                     c10::Device device) {
  Json mine = Json::array();
  for (const MicroBatchLoss& micro_batch : micro_batches) {
    if (std::isfinite(micro_batch.loss.item<double>())) continue;
    for (int64_t i = 0; i < micro_batch.num_rows; ++i) mine.push_back(micro_batch.first_row + i);
  }
  std::vector<int64_t> rows;
  for (const std::string& text : comm::all_gather_text(mesh.world(), mine.dump(), device)) {
    for (const Json& row : Json::parse(text)) rows.push_back(row.get<int64_t>());
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::string first_non_finite(fsdp::ShardedModule& model) {
  const at::NoGradGuard no_grad;
  const auto& names = model.parameter_names();
  std::map<std::string, int64_t> index_of;
  for (const auto& name : names) index_of.emplace(name, static_cast<int64_t>(index_of.size()));
  const auto shards = model.parameters();
  // By parameter: parts of its weights and of its gradient that are not finite.
  const at::Tensor counts = at::zeros({2, static_cast<int64_t>(names.size())}, at::kDouble);
  for (const auto& slice : model.slices()) {
    if (slice.values.numel() == 0) continue;
    const int64_t index = index_of.at(slice.name);
    if (!is_finite(slice.values)) counts[0][index] += 1;
    if (slice.shard_index < 0) continue;
    const at::Tensor& gradient = shards[static_cast<size_t>(slice.shard_index)].grad();
    if (gradient.defined() && !is_finite(gradient.narrow(0, slice.shard_offset, slice.values.numel()))) {
      counts[1][index] += 1;
    }
  }
  const at::Tensor sum = counts.to(model.device());
  model.mesh().world().all_reduce(sum).wait();
  const at::Tensor on_host = sum.to(at::kCPU);
  const auto is_bad = [&](int row, size_t index) {
    return on_host[row][static_cast<int64_t>(index)].item<double>() > 0;
  };
  for (size_t i = 0; i < names.size(); ++i) {
    if (is_bad(0, i)) return fmt::format("the weights of {} are not finite", names[i]);
  }
  for (size_t i = names.size(); i-- > 0;) {
    if (is_bad(1, i)) return fmt::format("in backward it appeared first in the gradient of {}", names[i]);
  }
  return "weights and gradients are finite: it is in the loss alone";
}

}  // namespace lockstep::train
