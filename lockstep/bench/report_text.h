// A report as text, in the columns of nccl-tests 2.17 and newer, so that what reads those reads these. Lines
// of our own are comments ("# ...") too. A part at a time, so that a row is seen when it is measured.
#pragma once

#include <string>

#include "lockstep/bench/report.h"

namespace lockstep::bench {

// What is measured, how, and a line for each rank. Lines without the last newline, as below.
std::string head_text(const Report& report);
// The columns of one collective.
std::string columns_text(const Report& report, Operation operation);
std::string row_text(const Row& row, Operation operation, int num_ranks);
// "# Out of bounds values : 0 OK", "# Avg bus bandwidth    : 1.23", and the share of the line rate.
std::string foot_text(const Report& report, const OperationReport& operation);
// Sizes that were left out and why; empty when there are none.
std::string skipped_text(const Report& report);

}  // namespace lockstep::bench
