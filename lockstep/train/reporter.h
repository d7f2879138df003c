// What a worker writes into the run's folder, and tells its launcher: rank 0 writes, the
// others keep silent.
#pragma once

#include <memory>
#include <string>

#include "lockstep/base/json.h"
#include "lockstep/launch/worker_env.h"
#include "lockstep/record/event_sink.h"
#include "lockstep/record/metrics.h"
#include "lockstep/record/record.h"
#include "lockstep/record/run_directory.h"

namespace lockstep::train {

class Reporter {
 public:
  // env.run_dir is a run's folder. Takes over env.event_fd.
  explicit Reporter(const launch::WorkerEnv& env);

  void event(const std::string& name, const Json& fields);
  void metrics(const record::StepMetrics& metrics);

  // record.json: what ran. `update` changes it, and it is written anew.
  template <typename Update>
  void record(Update&& update) {
    update(record_);
    if (rank_ == 0) record::write_record(run_, record_);
  }

  const record::RunDirectory& run() const { return run_; }
  bool is_writer() const { return rank_ == 0; }

 private:
  int rank_;
  record::RunDirectory run_;
  record::Record record_;
  std::unique_ptr<record::LineSink> live_, events_file_, metrics_file_;  // rank 0 only
  std::unique_ptr<record::EventWriter> events_;
  std::unique_ptr<record::MetricsWriter> metrics_;
};

}  // namespace lockstep::train
