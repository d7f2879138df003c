#include "lockstep/cluster/ray_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "lockstep/base/check.h"
#include "lockstep/base/clock.h"
#include "lockstep/base/error.h"
#include "lockstep/base/optional_json.h"

namespace lockstep::cluster {
namespace {

std::string text_or_empty(const Json& json, const char* key) {
  const Json value = json.value(key, Json());
  return value.is_string() ? value.get<std::string>() : "";
}

std::string time_text(const std::optional<int64_t>& unix_ms) {
  if (!unix_ms) return "-";
  return format_utc(std::chrono::system_clock::time_point(std::chrono::milliseconds(*unix_ms)));
}

std::string duration_text(const RayJob& job) {
  if (!job.start_ms || !job.end_ms) return "-";
  return fmt::format("{:.1f} s", static_cast<double>(*job.end_ms - *job.start_ms) / 1000);
}

}  // namespace

bool RayJob::is_over() const { return status == "STOPPED" || status == "SUCCEEDED" || status == "FAILED"; }

int RayJob::exit_code() const {
  LOCKSTEP_CHECK(is_over()) << id << " is " << status;
  if (driver_exit_code) return *driver_exit_code < 0 ? 128 - *driver_exit_code : *driver_exit_code;
  if (status == "SUCCEEDED") return 0;
  return static_cast<int>(status == "STOPPED" ? ExitCode::kPreempted : ExitCode::kCommand);
}

std::string RayJob::outcome() const {
  if (!driver_exit_code || status == "SUCCEEDED") return status;
  if (*driver_exit_code < 0) return fmt::format("{}: ended by signal {}", status, -*driver_exit_code);
  return fmt::format("{} with exit code {}", status, *driver_exit_code);
}

Json RayJob::to_json() const {
  return {{"id", id},
          {"status", status},
          {"exit_code", is_over() ? Json(exit_code()) : Json()},
          {"message", message},
          {"entrypoint", entrypoint},
          {"metadata", metadata},
          {"start_ms", or_null(start_ms)},
          {"end_ms", or_null(end_ms)}};
}

RayJob ray_job_from(const Json& json) {
  RayJob job;
  job.id = text_or_empty(json, "submission_id");
  job.status = json.at("status").get<std::string>();
  job.message = text_or_empty(json, "message");
  job.entrypoint = text_or_empty(json, "entrypoint");
  job.metadata = json.value("metadata", Json());
  job.start_ms = optional_of<int64_t>(json.value("start_time", Json()));
  job.end_ms = optional_of<int64_t>(json.value("end_time", Json()));
  job.driver_exit_code = optional_of<int>(json.value("driver_exit_code", Json()));
  return job;
}

std::string to_table(std::vector<RayJob> jobs) {
  std::sort(jobs.begin(), jobs.end(),
            [](const RayJob& a, const RayJob& b) { return a.start_ms.value_or(0) < b.start_ms.value_or(0); });
  size_t width = 2;
  for (const RayJob& job : jobs) width = std::max(width, job.id.size());
  std::string table = fmt::format("{:<{}}  {:<9}  {:<4}  {:<24}  {:<10}  {}\n", "id", width, "status", "code",
                                  "start", "time", "run");
  for (const RayJob& job : jobs) {
    const std::string run = job.metadata.is_object() ? text_or_empty(job.metadata, "run_dir") : "";
    table += fmt::format("{:<{}}  {:<9}  {:<4}  {:<24}  {:<10}  {}\n", job.id, width, job.status,
                         job.is_over() ? std::to_string(job.exit_code()) : "-", time_text(job.start_ms),
                         duration_text(job), run.empty() ? "-" : run);
  }
  return table;
}

}  // namespace lockstep::cluster
