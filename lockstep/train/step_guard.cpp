#include "lockstep/train/step_guard.h"

#include <fmt/core.h>

#include <cmath>

#include "lockstep/base/median.h"

namespace lockstep::train {
namespace {

// A median of fewer says little; of more, it lags behind a loss that falls.
constexpr size_t kLeastLosses = 8, kMostLosses = 32;

}  // namespace

std::optional<std::string> StepGuard::judge(double loss, double grad_norm) {
  auto reason = reason_to_skip(loss, grad_norm);
  if (reason) {
    ++skipped_in_a_row_;
    return reason;
  }
  skipped_in_a_row_ = 0;
  recent_losses_.push_back(loss);
  if (recent_losses_.size() > kMostLosses) recent_losses_.pop_front();
  return std::nullopt;
}

std::optional<std::string> StepGuard::reason_to_skip(double loss, double grad_norm) const {
  if (!std::isfinite(loss)) return fmt::format("the loss is {}", loss);
  if (!std::isfinite(grad_norm)) return fmt::format("the gradient norm is {}", grad_norm);
  if (config_.loss_spike > 0 && recent_losses_.size() >= kLeastLosses) {
    const double usual = median({recent_losses_.begin(), recent_losses_.end()});
    if (loss > config_.loss_spike * usual) {
      return fmt::format("the loss {:.4f} is above {} (guard.loss_spike) times the recent median {:.4f}",
                         loss, config_.loss_spike, usual);
    }
  }
  return std::nullopt;
}

Json StepGuard::state() const {
  return {{"skipped_in_a_row", skipped_in_a_row_},
          {"recent_losses", std::vector<double>(recent_losses_.begin(), recent_losses_.end())}};
}

void StepGuard::load_state(const Json& state) {
  skipped_in_a_row_ = state.at("skipped_in_a_row").get<int64_t>();
  const auto losses = state.at("recent_losses").get<std::vector<double>>();
  recent_losses_.assign(losses.begin(), losses.end());
}

}  // namespace lockstep::train
