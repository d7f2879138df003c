#include "lockstep/launch/event_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <vector>

#include "lockstep/base/byte_size.h"

namespace lockstep::launch {
namespace {

// Numbers as numbers; a loss that is not finite arrives as null, which JSON has instead.
std::optional<double> number(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  if (found->is_null()) return std::nan("");
  return found->is_number() ? std::optional<double>(found->get<double>()) : std::nullopt;
}

std::string text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

bool is_ours(std::string_view key) {
  constexpr std::string_view kKeys[] = {"version",      "time",       "generation",    "event",
                                        "step",         "loss",       "tokens",        "grad_norm",
                                        "tokens_per_s", "lr",         "step_ms",       "peak_bytes",
                                        "slowest_rank", "slowest_ms", "slowest_phase", "median_rank_ms"};
  return std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys);
}

std::string field_text(const std::string& key, const Json& value) {
  if (value.is_string()) return fmt::format("{} {}", key, value.get<std::string>());
  return value.is_number_float() ? fmt::format("{} {:.6g}", key, value.get<double>())
                                 : fmt::format("{} {}", key, value.dump());
}

// Its plain fields; lists and objects are for programs.
std::string fields_text(const Json& event) {
  std::vector<std::string> fields;
  for (const auto& [key, value] : event.items()) {
    const bool is_stamp = key == "version" || key == "time" || key == "generation" || key == "event";
    if (!is_stamp && !value.is_structured()) fields.push_back(field_text(key, value));
  }
  return fmt::format("{}", fmt::join(fields, ", "));
}

std::string model_text(const Json& event) {
  const auto units = event.find("units");
  const std::string in_units =
      units != event.end() && units->is_array() ? fmt::format(" in {} units", units->size()) : "";
  return fmt::format("model: {} parameters{}", count_text(number(event, "parameters").value_or(0)), in_units);
}

std::string evaluation_text(const Json& event) {
  const std::string when = text(event, "when");
  std::string line = when == "during"
                         ? fmt::format("evaluation at step {}", number(event, "step").value_or(0))
                         : fmt::format("evaluation {} training", when);
  line +=
      fmt::format(": {} loss {:.4f}", text(event, "source"), number(event, "loss").value_or(std::nan("")));
  if (const auto tokens = number(event, "tokens")) line += fmt::format(" over {:.0f} tokens", *tokens);
  return line;
}

std::string answer_text(const Json& event) {
  return fmt::format("answer {} training\n  > {}\n  {}", text(event, "when"), text(event, "prompt"),
                     text(event, "text"));
}

}  // namespace

std::string metrics_text(const Json& metrics, std::optional<int64_t> total_steps,
                         std::optional<double> seconds_left) {
  std::vector<std::string> parts;
  const auto add = [&](const char* key, auto&& as_text) {
    if (const auto value = number(metrics, key)) parts.push_back(as_text(*value));
  };
  add("step", [&](double step) {
    return total_steps ? fmt::format("step {:.0f}/{}", step, *total_steps) : fmt::format("step {:.0f}", step);
  });
  add("loss", [](double loss) { return fmt::format("loss {:.4f}", loss); });
  add("tokens_per_s", [](double rate) { return count_text(rate) + " tokens/s"; });
  add("grad_norm", [](double norm) { return fmt::format("grad norm {:.3g}", norm); });
  add("lr", [](double lr) { return fmt::format("lr {:.2e}", lr); });
  add("peak_bytes", [](double bytes) { return format_bytes(static_cast<int64_t>(bytes)); });
  if (seconds_left) parts.push_back(duration_text(*seconds_left) + " left");
  for (const auto& [key, value] : metrics.items()) {
    if (!is_ours(key)) add(key.c_str(), [&](double number) { return fmt::format("{} {:.4g}", key, number); });
  }
  return fmt::format("{}", fmt::join(parts, "  "));
}

std::string event_text(const Json& event) {
  const std::string name = text(event, "event");
  if (name == "model") return model_text(event);
  if (name == "evaluation") return evaluation_text(event);
  if (name == "answer") return answer_text(event);
  if (name == "warning") return "warning: " + text(event, "message");
  const std::string fields = fields_text(event);
  return fields.empty() ? name : name + ": " + fields;
}

std::string duration_text(double seconds) {
  const auto total = static_cast<int64_t>(std::llround(std::max(0.0, seconds)));
  const int64_t hours = total / 3600, minutes = total / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, total % 60)
                   : fmt::format("{}:{:02}", minutes, total % 60);
}

std::string count_text(double count) {
  constexpr const char* kUnits[] = {"", "k", "M", "G"};
  size_t unit = 0;
  // Below 10 with one decimal place, so that two digits are always told.
  while (count >= 999.5 && unit + 1 < std::size(kUnits)) {
    count /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f}{}", count, count < 9.95 && unit > 0 ? 1 : 0, kUnits[unit]);
}

}  // namespace lockstep::launch
