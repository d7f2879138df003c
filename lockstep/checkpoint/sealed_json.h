// JSON that says whether it is still what was written: an object in one line,
//
//   {"sha256":"<64 hex digits>","body":<the object>}\n
//
// where the hash is over the bytes of the body. Any JSON reader opens it; this one also finds a
// changed digit. docs/checkpoint_format.md has it byte by byte.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "lockstep/base/json.h"

namespace lockstep::checkpoint {

std::string seal(const Json& body);

// The body. Throws DamagedError, naming `origin`, for anything that `seal` did not write.
Json unseal(std::span<const std::byte> bytes, const std::string& origin);

}  // namespace lockstep::checkpoint
