// What happens in a run, as events: {"version":1,"time":"2026-01-02T03:04:05.678Z","generation":1,
// "event":"evaluation", then its fields}. Names and fields: docs/run_directory.md.
#pragma once

#include <string_view>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/record/line_sink.h"

namespace lockstep::record {

// The stamp and `fields`, an object (or null for none) that CHECKs not to hold the stamp's own names.
Json make_event(int generation, std::string_view name, const Json& fields);

// One line of JSON: numbers that are not finite become null, bytes that are not UTF-8 U+FFFD.
std::string to_line(const Json& json);

class EventSink {
 public:
  virtual ~EventSink() = default;
  // Any thread may call. Throws IoError when the run's folder cannot take it.
  virtual void emit(std::string_view name, const Json& fields) = 0;
};

// Stamps each event once and writes it to several places; to none at all on ranks that keep silent.
class EventWriter : public EventSink {
 public:
  // The sinks must outlive it.
  EventWriter(int generation, std::vector<LineSink*> sinks)
      : generation_(generation), sinks_(std::move(sinks)) {}
  void emit(std::string_view name, const Json& fields) override;

 private:
  int generation_;
  std::vector<LineSink*> sinks_;
};

}  // namespace lockstep::record
