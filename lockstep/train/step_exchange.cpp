#include "lockstep/train/step_exchange.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <csignal>

namespace lockstep::train {

at::Tensor exchange(comm::Mesh& mesh, const at::Tensor& loss, const RankNews& news) {
  std::vector<double> values{news.stop_signal == SIGINT ? 1.0 : 0.0,
                             news.stop_signal == SIGTERM ? 1.0 : 0.0,
                             news.saving.written,
                             news.saving.failed,
                             news.saving.committed,
                             mesh.rank() == 0 && news.half_hour_is_over ? 1.0 : 0.0};
  // A row of times for each rank, all zeros but its own: so the sum is everybody's.
  const size_t own_row = values.size() + static_cast<size_t>(mesh.rank()) * kNumPhases;
  values.resize(values.size() + static_cast<size_t>(mesh.world_size()) * kNumPhases, 0.0);
  std::copy(news.times.begin(), news.times.end(), values.begin() + static_cast<long>(own_row));

  const at::Tensor sum = at::cat({loss.view({1}), at::tensor(values, at::kDouble).to(loss.device())});
  mesh.world().all_reduce(sum).wait();
  return sum;
}

StepNews read_news(const at::Tensor& sum, int world_size) {
  const at::Tensor on_host = sum.to(at::kCPU);
  const double* value = on_host.const_data_ptr<double>();
  StepNews news;
  news.loss = *value++;
  if (*value++ > 0) news.stop_signal = SIGINT;
  if (*value++ > 0) news.stop_signal = SIGTERM;
  news.saving.written = *value++;
  news.saving.failed = *value++;
  news.saving.committed = *value++;
  news.half_hour_is_over = *value++ > 0;
  news.times.resize(static_cast<size_t>(world_size));
  for (PhaseTimes& times : news.times) {
    for (double& time : times) time = *value++;
  }
  return news;
}

}  // namespace lockstep::train
