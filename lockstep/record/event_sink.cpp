#include "lockstep/record/event_sink.h"

#include "lockstep/base/check.h"
#include "lockstep/base/clock.h"

namespace lockstep::record {

Json make_event(int generation, std::string_view name, const Json& fields) {
  LOCKSTEP_CHECK(fields.is_object() || fields.is_null()) << name << ": " << fields.dump();
  Json event = {{"version", 1}, {"time", utc_now()}, {"generation", generation}, {"event", name}};
  for (const auto& [key, value] : fields.items()) {
    LOCKSTEP_CHECK(!event.contains(key)) << "event " << name << " has '" << key << "' twice";
    event[key] = value;
  }
  return event;
}

std::string to_line(const Json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

void EventWriter::emit(std::string_view name, const Json& fields) {
  const std::string line = to_line(make_event(generation_, name, fields));
  for (LineSink* sink : sinks_) sink->write(line);
}

}  // namespace lockstep::record
