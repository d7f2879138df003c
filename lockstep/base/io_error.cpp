#include "lockstep/base/io_error.h"

#include <fmt/core.h>

#include <cerrno>
#include <system_error>
namespace lockstep {
namespace {

std::string_view way_out(int error) {
  switch (error) {
    case ENOSPC:
      return "; free some space, or choose another disk with run.dir";
    case EDQUOT:
      return "; your quota on this disk is used up: free some space, or choose another with run.dir";
    case EACCES:
    case EPERM:
      return "; change its owner or permissions, or choose a place that you may write to";
    case EROFS:
      return "; choose a place on a disk that can be written to";
    case EMFILE:
      return "; raise the limit on open files (ulimit -n)";
    case ENOENT:
      return "; check the path";
    default:
      return "";
  }
}

bool is_permanent(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EACCES:
    case EPERM:
    case EROFS:
    case ENOTDIR:
    case EISDIR:
    case ENAMETOOLONG:
    case ELOOP:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string errno_words(int error) { return std::generic_category().message(error); }

void throw_io_error(std::string_view action, std::string_view path, int error) {
  const std::string message =
      fmt::format("cannot {} {}: {}{}", action, path, errno_words(error), way_out(error));
  if (is_permanent(error)) throw PermanentIoError(message);
  throw IoError(message);
}

}  // namespace lockstep
