// JSON Lines: one JSON object a line, UTF-8. Lines of white space alone are skipped.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "lockstep/base/json.h"

namespace lockstep::data {

struct JsonlFile {
  std::string path;
  std::string sha256;  // of the file's bytes
  int64_t bytes = 0;
  int64_t records = 0;
};

// "data: train.jsonl:7", which starts every message about a record. Lines count from 1.
std::string record_place(const std::string& path, int64_t line);

// Calls `visit` with each record in order and the number of its line; holds one line in
// memory. Throws ConfigError when there is no such file, IoError when reading fails on the
// way, DataError for a line that is not a JSON object and for a file without records.
JsonlFile read_jsonl(const std::string& path,
                     const std::function<void(int64_t line, const Json& record)>& visit);

}  // namespace lockstep::data
