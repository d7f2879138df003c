// Why a cluster was moved to an image: what was measured on the one before it and on this one. The section
// `accepted` of a lock, written by `lockstep image update --accept`. Fields: docs/commands/image.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/base/json.h"

namespace lockstep::cluster {

// What `lockstep cluster doctor` found, by the checks' ids.
struct DoctorSummary {
  int64_t ok = 0;
  std::vector<std::string> faults;   // those that another check's fault explains are not among them
  std::vector<std::string> unknown;  // could not be made
};

struct ImageMeasurement {
  std::string image;     // by digest
  std::string measured;  // when it began, RFC 3339
  DoctorSummary doctor;
  // The verdict of the training's gate (docs/transport.md): "efa", and its level, "connected".
  std::string transport, evidence;
  int64_t ranks = 0;
  int64_t all_reduce_bytes = 0;  // the largest that was timed
  double bus_bandwidth = 0;      // GB/s, the best all-reduce
  double step_ms = 0;            // median, without the first steps
  double tokens_per_s = 0;       // likewise, of all ranks
  std::vector<double> losses;    // of every step

  // Null stands for a part that could not be measured.
  Json to_json() const;
  // Throws Json::exception for what to_json() did not make, and for a part that is null: no lock has one.
  static ImageMeasurement from_json(const Json& json);
};

// What may be worse after than before.
struct Allowance {
  double slower_percent = 5;  // bus bandwidth and step time
  double loss_percent = 2;    // the loss of any step, either way
};

struct Acceptance {
  Allowance allowance;
  ImageMeasurement before, after;

  Json to_json() const;
  // Throws Json::exception.
  static Acceptance from_json(const Json& json);
};

}  // namespace lockstep::cluster
