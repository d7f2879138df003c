#include "lockstep/cluster/accept/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "lockstep/base/check.h"

namespace lockstep::cluster::accept {
namespace {

constexpr const char* kNone = "none";

std::string words_of(const DoctorSummary& doctor) {
  std::string text = fmt::format("{} ok", doctor.ok);
  if (!doctor.faults.empty()) text += fmt::format(", fault: {}", fmt::join(doctor.faults, ", "));
  if (!doctor.unknown.empty()) text += fmt::format(", {} unknown", doctor.unknown.size());
  return text;
}

// Those of `after` that are not in `before`.
std::vector<std::string> new_ones(const std::vector<std::string>& before,
                                  const std::vector<std::string>& after) {
  std::vector<std::string> ids;
  std::copy_if(after.begin(), after.end(), std::back_inserter(ids), [&](const std::string& id) {
    return std::find(before.begin(), before.end(), id) == before.end();
  });
  return ids;
}

ComparedRow compare_doctor(const DoctorSummary& before, const DoctorSummary& after) {
  ComparedRow row{.what = "doctor", .before = words_of(before), .after = words_of(after)};
  const auto faults = new_ones(before.faults, after.faults),
             unknown = new_ones(before.unknown, after.unknown);
  if (!faults.empty())
    row.why_not = fmt::format("a fault that was not there: {}", fmt::join(faults, ", "));
  else if (!unknown.empty())
    row.why_not =
        fmt::format("checks that could be made before, and now could not: {}", fmt::join(unknown, ", "));
  return row;
}

ComparedRow compare_transport(const Measured& before, const Measured& after) {
  const auto words = [](const Measured& measured) {
    if (measured.is_network_refused) return std::string("refused");
    return measured.no_training.empty()
               ? fmt::format("{}, {}", measured.figures.transport, measured.figures.evidence)
               : kNone;
  };
  ComparedRow row{.what = "transport", .before = words(before), .after = words(after)};
  if (!after.no_training.empty())
    row.why_not = after.no_training;
  else if (after.figures.transport != before.figures.transport)
    row.why_not = "another network";
  return row;
}

std::string percent_over(double ratio) { return fmt::format("{:.1f} %", (ratio - 1) * 100); }

ComparedRow compare_all_reduce(const Measured& before, const Measured& after, const Allowance& allowance) {
  const auto words = [](const Measured& measured) {
    return measured.no_all_reduce.empty() ? fmt::format("{:.4g} GB/s", measured.figures.bus_bandwidth)
                                          : kNone;
  };
  ComparedRow row{.what = "all-reduce", .before = words(before), .after = words(after)};
  if (!after.no_all_reduce.empty()) {
    row.why_not = after.no_all_reduce;
    return row;
  }
  const double ratio = after.figures.bus_bandwidth / before.figures.bus_bandwidth;
  row.ratio = fmt::format("{:.3f} x", ratio);
  // As much slower as a step may take longer. Of no bandwidth before, any is as good.
  if (ratio * (1 + allowance.slower_percent / 100) < 1)
    row.why_not =
        fmt::format("{} slower, {:g} % are allowed", percent_over(1 / ratio), allowance.slower_percent);
  return row;
}

ComparedRow compare_step_time(const Measured& before, const Measured& after, const Allowance& allowance) {
  const auto words = [](const Measured& measured) {
    return measured.no_training.empty() ? fmt::format("{:.4g} ms, {:.0f} tokens/s", measured.figures.step_ms,
                                                      measured.figures.tokens_per_s)
                                        : kNone;
  };
  ComparedRow row{.what = "step time", .before = words(before), .after = words(after)};
  if (!after.no_training.empty()) {
    row.why_not = "nothing was trained";
    return row;
  }
  const double ratio = after.figures.step_ms / before.figures.step_ms;
  row.ratio = fmt::format("{:.3f} x", ratio);
  if (ratio > 1 + allowance.slower_percent / 100)
    row.why_not = fmt::format("{} slower, {:g} % are allowed", percent_over(ratio), allowance.slower_percent);
  return row;
}

ComparedRow compare_loss(const Measured& before, const Measured& after, const Allowance& allowance) {
  const auto words = [](const Measured& measured) {
    const auto& losses = measured.figures.losses;
    return losses.empty() ? kNone : fmt::format("{:.4f} to {:.4f}", losses.front(), losses.back());
  };
  ComparedRow row{.what = "loss", .before = words(before), .after = words(after)};
  if (!after.no_training.empty()) {
    row.why_not = "nothing was trained";
    return row;
  }
  double largest = 0;
  size_t at = 0;
  for (size_t i = 0; i < before.figures.losses.size(); ++i) {
    const double old = before.figures.losses[i];
    const double difference = std::abs(after.figures.losses.at(i) - old) / std::max(std::abs(old), 1e-12);
    if (difference <= largest) continue;
    largest = difference;
    at = i;
  }
  row.ratio = fmt::format("{:.2g} % apart at most", largest * 100);
  if (largest > allowance.loss_percent / 100)
    row.why_not = fmt::format("at step {} it is {:.4f} and was {:.4f}, {:g} % are allowed", at + 1,
                              after.figures.losses[at], before.figures.losses[at], allowance.loss_percent);
  return row;
}

}  // namespace

std::vector<ComparedRow> compare(const Measured& before, const Measured& after, const Allowance& allowance) {
  LOCKSTEP_CHECK(before.is_whole()) << "nothing to compare with";
  return {compare_doctor(before.figures.doctor, after.figures.doctor), compare_transport(before, after),
          compare_all_reduce(before, after, allowance), compare_step_time(before, after, allowance),
          compare_loss(before, after, allowance)};
}

bool holds(const std::vector<ComparedRow>& rows) {
  return std::all_of(rows.begin(), rows.end(), [](const ComparedRow& row) { return row.holds(); });
}

std::string to_text(const std::vector<ComparedRow>& rows) {
  size_t before = 0, after = 0;
  for (const ComparedRow& row : rows) {
    before = std::max(before, row.before.size());
    after = std::max(after, row.after.size());
  }
  std::string text;
  for (const ComparedRow& row : rows) {
    std::string line =
        fmt::format("{:<10}  {:<{}}  {:<{}}  {}", row.what, row.before, before, row.after, after, row.ratio);
    if (!row.holds()) line += fmt::format("{}does not hold: {}", row.ratio.empty() ? "" : "; ", row.why_not);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

Json to_json(const std::vector<ComparedRow>& rows) {
  Json list = Json::array();
  for (const ComparedRow& row : rows)
    list.push_back({{"what", row.what},
                    {"before", row.before},
                    {"after", row.after},
                    {"ratio", row.ratio.empty() ? Json() : Json(row.ratio)},
                    {"holds", row.holds()},
                    {"why_not", row.holds() ? Json() : Json(row.why_not)}});
  return list;
}

}  // namespace lockstep::cluster::accept
