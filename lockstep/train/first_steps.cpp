#include "lockstep/train/first_steps.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/base/log.h"
#include "lockstep/transport/requirement.h"

namespace lockstep::train {

FirstSteps::FirstSteps(const NetworkConfig& network, Engine& engine, Admission& admission, Reporter& reporter)
    : network_(network), engine_(engine), admission_(admission), reporter_(reporter) {}

void FirstSteps::after(int64_t steps) {
  if (!admission_.spans_hosts()) return;
  if (steps == 0) watch_.emplace(engine_.rendezvous(), engine_.mesh(), admission_.hosts);
  if (steps != kSteps || !watch_) return;
  const auto moved = watch_->finish("first steps", admission_.verdict.transport);
  watch_.reset();
  if (!moved) return;
  transport::overrule(admission_.verdict, *moved);
  log::info("transport: over the first {} steps: {}, {}", kSteps, word(moved->transport), moved->reason);
  reporter_.event("verdict",
                  {{"when", "first steps"},
                   {"steps", kSteps},
                   {"report",
                    {{"transport", word(admission_.verdict.transport)},
                     {"level", word(admission_.verdict.level)},
                     {"moved", {{"transport", word(moved->transport)}, {"reason", moved->reason}}}}}});
  if (network_.require == "any") return;
  const std::string refusal = transport::refusal(
      admission_.verdict,
      {.requirement = transport::requirements().at(network_.require), .least = transport::Level::kConnected});
  if (!refusal.empty())
    throw TransportError("transport: after " + std::to_string(kSteps) + " steps " + refusal);
}

}  // namespace lockstep::train
