// Which samples are kept from training: by share, or in a file of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lockstep::data {

// `data.held_out`: empty, a share in (0, 1), or a file.
struct HeldOut {
  std::optional<double> share;
  std::string path;

  // A value that reads as a number is a share. Throws ConfigError for one outside (0, 1).
  static HeldOut parse(const std::string& value);
};

// True for the samples to hold out: those with the smallest content hashes, share * n of them
// rounded, at least one. Neither order nor seed counts, and samples of equal content stay
// together, so that none is in both parts. Empty when there are no samples.
std::vector<bool> choose_held_out(std::span<const uint64_t> content_hashes, double share);

}  // namespace lockstep::data
