// Logs of tests/data/transport, and verdicts on text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lockstep/transport/verdict.h"

namespace lockstep::transport {

struct ExpectedRow {
  std::string file;
  std::string columns;    // the row without its last column, which is free text
  std::string transport;  // inter_node_transport
};

// The rows of expected.tsv.
std::vector<ExpectedRow> expected_rows();

std::string log_text(const std::string& file);

// The lines of `text`, without their newlines.
std::vector<std::string> lines_of(const std::string& text);
std::string joined(const std::vector<std::string>& lines);

JobVerdict verdict_on(std::string_view text);

// "efa connected yes": transport, level, GPUDirect.
std::string summary(const JobVerdict& verdict);

// The row that `--format tsv` prints for `verdict`, without its last column.
std::string columns_of(const std::string& file, const JobVerdict& verdict);

}  // namespace lockstep::transport
