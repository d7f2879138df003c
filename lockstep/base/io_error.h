// Turns errno into an IoError that says where, what and the way out.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

// "No space left on device" for ENOSPC; unlike strerror safe in any thread.
std::string errno_words(int error);

// Throws IoError "cannot <action> <path>: <errno in words>", with the way out for a full disk,
// missing rights, a read-only disk, too many open files and a missing folder.
[[noreturn]] void throw_io_error(std::string_view action, std::string_view path, int error);

}  // namespace lockstep
