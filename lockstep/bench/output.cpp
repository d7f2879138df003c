#include "lockstep/bench/output.h"

#include <iostream>

#include "lockstep/base/file_descriptor.h"
#include "lockstep/record/event_sink.h"

namespace lockstep::bench {

Output::Output(const launch::WorkerEnv& env) {
  if (env.event_fd) pipe_.emplace(FileDescriptor(*env.event_fd));
}

void Output::print(const std::string& text) {
  if (text.empty()) return;
  if (pipe_) {
    pipe_->write(record::to_line({{"version", 1}, {"event", "output"}, {"text", text}}));
  } else {
    std::cout << text << std::endl;
  }
}

std::string printed_text(const std::string& line) {
  const Json event = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!event.is_object() || event.value("event", "") != "output") return "";
  return event.value("text", "") + "\n";
}

}  // namespace lockstep::bench
