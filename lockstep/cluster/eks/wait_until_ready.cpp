#include "lockstep/cluster/eks/wait_until_ready.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"

namespace lockstep::cluster::eks {

constexpr std::chrono::seconds kPoll{10};

void wait_until_ready(const Surroundings& surroundings, const std::string& what, std::chrono::minutes limit,
                      const std::function<Readiness()>& look, const std::string& way_on) {
  const auto deadline = surroundings.now() + limit;
  std::string said;
  while (true) {
    const Readiness readiness = look();
    if (readiness.ready()) return;
    const std::string text = readiness.to_text();
    if (!readiness.broken.empty() || surroundings.now() >= deadline)
      throw CommandError(fmt::format(
          "cluster: {} not ready{}: {}. {}", what,
          readiness.broken.empty() ? fmt::format(" after {} minutes", limit.count()) : "", text, way_on));
    if (text != said) surroundings.say(fmt::format("waiting for {}: {}", what, text));
    said = text;
    surroundings.pause(kPoll);
  }
}

}  // namespace lockstep::cluster::eks
