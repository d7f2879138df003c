// What program this is, for the record: commit, hashes of its own files, versions of the
// libraries that it runs with.
#pragma once

#include <map>
#include <string>

namespace lockstep::train {

struct ProgramFacts {
  std::string commit;
  std::map<std::string, std::string> binary_sha256;  // file name -> hash: the program, liblockstep.so
  std::map<std::string, std::string> libraries;      // name -> version
};

// Reads the files that are running: some 10 ms.
ProgramFacts program_facts();

}  // namespace lockstep::train
