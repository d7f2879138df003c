#include "lockstep/cluster/accept/run_figures.h"

#include <fmt/format.h>

#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/base/median.h"
#include "lockstep/base/split.h"

namespace lockstep::cluster::accept {
namespace {

// Reads a document by `read`, and names it where it has another shape.
template <typename Read>
void read_json(const std::string& text, const char* what, Read read) {
  try {
    read(Json::parse(text));
  } catch (const Json::exception& error) {
    throw CommandError(fmt::format("cluster: {} of the job cannot be understood: {}", what, error.what()));
  }
}

// From the line "{" to the line "}": what the program printed, among lines of others.
std::string document_in(const std::string& log) {
  std::string document;
  for (const std::string& line : split(log, '\n')) {
    if (line == "{") document.clear();
    if (line == "{" || !document.empty()) document += line + "\n";
    if (line == "}") break;
  }
  return document;
}

}  // namespace

void read_all_reduce(const std::string& log, ImageMeasurement& figures) {
  read_json(document_in(log), "the all-reduce's report", [&](const Json& report) {
    const Json& test = report.at("tests").at(0);
    figures.ranks = static_cast<int64_t>(report.at("config").at("devices").size());
    const Json& results = test.at("results");
    figures.all_reduce_bytes = results.at(results.size() - 1).at("size").get<int64_t>();
    figures.bus_bandwidth = test.at("best_bus_bandwidth").at("bandwidth").get<double>();
  });
}

void read_verdict(const std::string& verdict, ImageMeasurement& figures) {
  read_json(verdict, "the verdict on the network", [&](const Json& json) {
    figures.transport = json.at("transport").get<std::string>();
    figures.evidence = json.at("level").get<std::string>();
  });
}

void read_steps(const std::string& metrics, int64_t steps, int64_t skipped, ImageMeasurement& figures) {
  std::vector<double> step_ms, tokens_per_s;
  figures.losses.clear();
  for (const std::string& line : split(metrics, '\n')) {
    read_json(line, "a line of the metrics", [&](const Json& step) {
      figures.losses.push_back(step.at("loss").get<double>());
      if (static_cast<int64_t>(figures.losses.size()) <= skipped) return;
      step_ms.push_back(step.at("step_ms").get<double>());
      tokens_per_s.push_back(step.at("tokens_per_s").get<double>());
    });
  }
  if (static_cast<int64_t>(figures.losses.size()) != steps)
    throw CommandError(fmt::format("cluster: the job's metrics have {} steps, and {} were trained",
                                   figures.losses.size(), steps));
  figures.step_ms = median(step_ms);
  figures.tokens_per_s = median(tokens_per_s);
}

}  // namespace lockstep::cluster::accept
