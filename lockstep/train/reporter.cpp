#include "lockstep/train/reporter.h"

namespace lockstep::train {

Reporter::Reporter(const launch::WorkerEnv& env)
    : rank_(env.rank), run_(record::RunDirectory::open(env.run_dir)) {
  if (rank_ != 0) return;
  if (env.event_fd) live_ = std::make_unique<record::PipeLines>(FileDescriptor(*env.event_fd));
  events_file_ = std::make_unique<record::StoreLines>(run_.store(), record::events_key(env.generation));
  metrics_file_ = std::make_unique<record::StoreLines>(run_.store(), record::metrics_key(env.generation));
  std::vector<record::LineSink*> sinks{events_file_.get()};
  if (live_) sinks.push_back(live_.get());
  events_ = std::make_unique<record::EventWriter>(env.generation, std::move(sinks));
  metrics_ = std::make_unique<record::MetricsWriter>(env.generation, *metrics_file_, live_.get());
}

void Reporter::event(const std::string& name, const Json& fields) {
  if (events_) events_->emit(name, fields);
}

void Reporter::metrics(const record::StepMetrics& metrics) {
  if (metrics_) metrics_->write(metrics);
}

}  // namespace lockstep::train
