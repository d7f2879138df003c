#include "tests/transport/log_files.h"

#include <sstream>

#include "lockstep/base/check.h"
#include "lockstep/transport/verdict_tsv.h"
#include "tests/base/temporary_folder.h"
#include "tests/paths.h"

namespace lockstep::transport {

std::vector<ExpectedRow> expected_rows() {
  std::vector<ExpectedRow> rows;
  for (const std::string& line : lines_of(log_text("expected.tsv"))) {
    if (line.starts_with("file\t")) continue;
    std::istringstream stream(line);
    ExpectedRow row;
    std::string nodes, ranks;
    std::getline(stream, row.file, '\t');
    std::getline(stream, nodes, '\t');
    std::getline(stream, ranks, '\t');
    std::getline(stream, row.transport, '\t');
    row.columns = line.substr(0, line.rfind('\t'));
    rows.push_back(row);
  }
  LOCKSTEP_CHECK(rows.size() == 25);
  return rows;
}

std::string log_text(const std::string& file) {
  const std::string text = read_file(test_data("transport/" + file));
  LOCKSTEP_CHECK(!text.empty()) << file;
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

JobVerdict verdict_on(std::string_view text) {
  LogEvidence evidence;
  evidence.begin_source("test.log");
  evidence.add(text);
  evidence.end_source();
  return judge(evidence);
}

std::string summary(const JobVerdict& verdict) {
  return std::string(word(verdict.transport)) + " " + std::string(word(verdict.level)) + " " +
         std::string(word(verdict.gpu_direct));
}

std::string columns_of(const std::string& file, const JobVerdict& verdict) {
  const std::string row = tsv_row(file, verdict);
  return row.substr(0, row.rfind('\t'));
}

}  // namespace lockstep::transport
