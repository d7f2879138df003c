// Where Lockstep's own libraries lie.
#pragma once

#include <string>

namespace lockstep {

// The folder of liblockstep.so, or of the program that holds this code; "." where the loader does
// not tell.
std::string library_folder();

}  // namespace lockstep
