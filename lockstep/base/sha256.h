// SHA-256 (FIPS 180-4), by OpenSSL.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace lockstep {

// Hashes bytes as they come. About 2 GB/s where the processor has SHA instructions.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();

  void update(std::span<const std::byte> bytes);
  void update(std::string_view text);
  // 64 lower-case hex digits of everything so far; updates may go on afterwards.
  std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256_hex(std::string_view text);
// Throws IoError when the file cannot be read. Reads it once, in pieces of 1 MiB.
std::string sha256_file(const std::string& path);

}  // namespace lockstep
