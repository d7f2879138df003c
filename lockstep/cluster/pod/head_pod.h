// The pod of Ray's head, as a machine on which programs are run: by `kubectl exec`.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/cluster/eks/kubernetes.h"

namespace lockstep::cluster::pod {

// How a program in the pod ended.
struct Ran {
  int exit_code = 0;
  std::string out, err;
  // Why nobody knows how it ended: no pod, or a connection that was lost. The program may still run.
  std::string lost;

  bool is_good() const { return lost.empty() && exit_code == 0; }
  // The last line of what it wrote to standard error, else how it ended; `lost` where that is.
  std::string words() const;
};

struct RunOptions {
  std::string input;                             // its standard input; may be large
  std::function<void(std::string_view)> on_out;  // as of Command
  std::chrono::milliseconds timeout = std::chrono::minutes(3);
};

class HeadPod {
 public:
  // Both must outlive it. Asks nothing yet.
  HeadPod(eks::Kubernetes& kubernetes, const eks::Deployment& deployment);

  // Looks for the pod first, when there was none or it was lost: Kubernetes may have made another.
  Ran run(const std::vector<std::string>& argv, const RunOptions& options = {});
  // A program for the image's Python, which every node of Ray's has; `arguments` are its sys.argv[1:].
  Ran run_python(const std::string& program, const std::vector<std::string>& arguments,
                 const RunOptions& options = {});
  // The same in the shell of a person who has access to the cluster, without input.
  std::string command_line(const std::vector<std::string>& argv) const;

 private:
  bool find();

  eks::Kubernetes& kubernetes_;
  const eks::Deployment& deployment_;
  std::string name_;
};

}  // namespace lockstep::cluster::pod
