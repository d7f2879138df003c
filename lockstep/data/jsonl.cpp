#include "lockstep/data/jsonl.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/base/sha256.h"

namespace lockstep::data {
namespace {

std::ifstream open_file(const std::string& path) {
  std::error_code status;
  if (std::filesystem::is_directory(path, status)) {
    throw ConfigError(fmt::format("data: {} is a folder: name a JSONL file in it", path));
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw ConfigError(fmt::format("data: cannot open {}: {}. Paths are taken from the working directory, {}",
                                  path, std::strerror(errno),
                                  std::filesystem::current_path(status).string()));
  }
  return in;
}

// The library's message without its own name, number and "line 1", which is not the file's,
// and without what it read last, which may be a whole document.
std::string reason(const nlohmann::json::parse_error& error) {
  std::string text = error.what();
  if (const auto place = text.find(": "); place != std::string::npos) text.erase(0, place + 2);
  return text.substr(0, text.find("; last read"));
}

Json parse_record(const std::string& line, const std::string& place) {
  Json record;
  try {
    record = Json::parse(line);
  } catch (const nlohmann::json::parse_error& error) {
    throw DataError(fmt::format("{}: not JSON at byte {} of the line: {}. Correct or remove the line", place,
                                error.byte, reason(error)));
  }
  if (!record.is_object()) {
    throw DataError(fmt::format("{}: a JSON {} where an object is needed, such as {{\"text\": \"...\"}}",
                                place, record.type_name()));
  }
  return record;
}

}  // namespace

std::string record_place(const std::string& path, int64_t line) {
  return fmt::format("data: {}:{}", path, line);
}

JsonlFile read_jsonl(const std::string& path,
                     const std::function<void(int64_t line, const Json& record)>& visit) {
  auto in = open_file(path);
  JsonlFile file{.path = path};
  Sha256 sha256;
  std::string line;
  for (int64_t number = 1; std::getline(in, line); ++number) {
    const bool ended = !in.eof();  // by a newline, which getline took away
    file.bytes += int64_t(line.size()) + ended;
    sha256.update(line);
    if (ended) sha256.update("\n");
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    visit(number, parse_record(line, record_place(path, number)));
    ++file.records;
  }
  if (in.bad()) throw IoError(fmt::format("data: reading {} failed after {} bytes", path, file.bytes));
  if (file.records == 0) {
    throw DataError(fmt::format(
        "data: {} holds no samples ({} bytes): remove it from data.sources or fill it", path, file.bytes));
  }
  file.sha256 = sha256.hex();
  return file;
}

}  // namespace lockstep::data
