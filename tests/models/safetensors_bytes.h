// Safetensors files made by hand, so that each can be wrong in one way.
#pragma once

#include <fstream>
#include <string>

namespace lockstep::models {

// Length word, JSON, data.
inline std::string safetensors_bytes(const std::string& json, size_t data_bytes) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(json.size() >> (8 * i) & 0xff));
  return bytes + json + std::string(data_bytes, '\x2a');
}

inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace lockstep::models
