# Writes build_info.cpp when the commit has changed since: cmake -D SOURCE_DIR=... -D VERSION=...
# -D OUTPUT=... -P write_build_info.cmake
execute_process(COMMAND git -C ${SOURCE_DIR} describe --always --dirty --abbrev=12 --exclude=*
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
if(failed)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "lockstep/base/build_info.h"

namespace lockstep {
const char* const kVersion = "@VERSION@";
const char* const kCommit = "@commit@";
}  // namespace lockstep
]])
