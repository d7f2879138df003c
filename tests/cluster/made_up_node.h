// A machine made up by a test: a tree of files, and answers for what is no file.
#pragma once

#include <map>
#include <string>

#include "lockstep/cluster/node.h"
#include "tests/base/temporary_folder.h"

namespace lockstep::cluster {

class MadeUpNode {
 public:
  // No GPU, no network device, eth0 and lo, no program installed, no library to be loaded.
  MadeUpNode();

  void plant(const std::string& path, const std::string& text = "");
  void add_efa(const std::string& name);  // with a uverbs file
  void add_gpus(int count);               // kernel module and libcuda 580.159.03, CUDA 13.0

  Node node;
  std::map<std::string, LibraryProbe> libraries;  // by the name that is asked for
  std::map<std::string, ProgramOutput> programs;  // by argv[0]
  CudaDriver driver;
  std::optional<int64_t> shared_memory_bytes = int64_t{64} << 20;

 private:
  TemporaryFolder root_;
  int uverbs_ = 0;
};

}  // namespace lockstep::cluster
