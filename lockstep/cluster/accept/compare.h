// Whether an image is as good as the one before it.
#pragma once

#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/cluster/accept/measure.h"

namespace lockstep::cluster::accept {

// One of what was measured on both.
struct ComparedRow {
  std::string what;           // "doctor", "transport", "all-reduce", "step time", "loss"
  std::string before, after;  // in words, with units
  std::string ratio;          // of figures, "1.010 x"; empty where there is none
  std::string why_not;        // it does not hold; empty: it does

  bool holds() const { return why_not.empty(); }
};

// All rows; `before` must be whole. Doctor holds where it finds nothing that it did not find before,
// transport where the gate let the training start over the same network; the figures by the allowance.
std::vector<ComparedRow> compare(const Measured& before, const Measured& after, const Allowance& allowance);

bool holds(const std::vector<ComparedRow>& rows);
// A line each, in columns.
std::string to_text(const std::vector<ComparedRow>& rows);
// A list of objects: what, before, after, ratio, holds, why_not.
Json to_json(const std::vector<ComparedRow>& rows);

}  // namespace lockstep::cluster::accept
