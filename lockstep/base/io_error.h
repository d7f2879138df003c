// Turns errno into an IoError that says where, what and the way out.
#pragma once

#include <string>
#include <string_view>

#include "lockstep/base/error.h"

namespace lockstep {

// An IoError that would come again however often the call is repeated, until somebody does something
// about it: a full disk, missing rights, refused credentials.
class PermanentIoError : public IoError {
 public:
  using IoError::IoError;
};

// "No space left on device" for ENOSPC; unlike strerror safe in any thread.
std::string errno_words(int error);

// Throws IoError "cannot <action> <path>: <errno in words>", with the way out for a full disk,
// missing rights, a read-only disk, too many open files and a missing folder. It is a
// PermanentIoError where the errno says that another try is no use.
[[noreturn]] void throw_io_error(std::string_view action, std::string_view path, int error);

}  // namespace lockstep
