// Byte counts for people: "1.5 GiB".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep {

// Three significant digits in the largest binary unit that keeps the number at least 1:
// "0 B", "1023 B", "1.50 KiB", "135 MiB". `bytes` must not be negative.
std::string format_bytes(int64_t bytes);

// Reads "1048576", "512 MiB", "1.5GB": binary units (KiB, MiB, GiB, TiB, PiB) are powers of 1024,
// decimal ones (kB or KB, MB, GB, TB, PB) of 1000. Throws ConfigError saying what it got.
int64_t parse_bytes(std::string_view text);

}  // namespace lockstep
