// A Kubernetes cluster on this machine's loopback, for tests: etcd, the API server, the controller manager,
// the scheduler and KubeRay's operator are the real programs. Its nodes are names: kwok says for them that
// they are ready, and that their pods run, without a container (kwok.yaml); commands in them run on this
// machine (control_plane/cmd/kubelet). So everything is real that decides which pod is made, where it goes,
// and why it does not.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/base/process.h"
#include "lockstep/cluster/command_runner.h"
#include "tests/base/temporary_folder.h"

namespace lockstep::kube {

// What a node of an instance type has for pods.
struct NodeShape {
  std::string instance_type;
  std::map<std::string, std::string> allocatable;
  std::map<std::string, std::string> labels;
  Json taints = Json::array();
};

// With the labels and taints that `lockstep cluster` gives them.
NodeShape m7i_xlarge();   // a system node: 4 vCPU, 16 GiB
NodeShape g6_12xlarge();  // a GPU node: 48 vCPU, 192 GiB, 4 GPUs, 1 EFA interface

// "127.0.0.1:PORT" that nobody had a moment ago.
std::string free_address();
std::string port_of(const std::string& address);

class KubeBed {
 public:
  // Ready in some seconds, with KubeRay's resource definitions and without a node. Its processes are killed
  // with this object, and with the thread that made it.
  KubeBed();

  // The one of this process, which lives to its end.
  static KubeBed& shared();

  std::string kubeconfig() const { return folder_ / "kubeconfig"; }

  cluster::CommandResult run(const std::vector<std::string>& arguments, const std::string& input = "");
  // Standard output; a CHECK on exit code 0.
  std::string kubectl(const std::vector<std::string>& arguments, const std::string& input = "");
  // `kubectl get ... -o json`.
  Json get(std::vector<std::string> arguments);

  void add_node(const std::string& name, const NodeShape& shape);
  // Makes it unless it is there, and waits until pods can be made in it.
  void add_namespace(const std::string& name);

  // What `kubectl exec` finds as `name` in any container: a script, run on this machine with POD_NAME,
  // POD_NAMESPACE and CONTAINER set.
  void add_program(const std::string& name, const std::string& script);
  // Runs one beside the cluster, to the end of the bed.
  void start_program(const std::string& name);
  // Where they put their temporary files.
  std::string temporary_folder() const { return folder_ / "temporary"; }

  // Asks again until the answer is true. A CHECK on it coming within two minutes, with `what` and the pods'
  // state.
  void wait_for(const std::string& what, const std::function<bool()>& look);
  // What the operator, the scheduler or another of the processes has said.
  std::string log(const std::string& process) const { return read_file(folder_ / process + ".log"); }

 private:
  void start(const std::string& program, std::vector<std::string> arguments);
  void start_process(const std::string& name, std::vector<std::string> argv);
  void start_etcd();
  void start_api_server();
  void start_controllers();

  TemporaryFolder folder_;
  std::string etcd_, server_;       // addresses
  std::vector<Process> processes_;  // after folder_: ended before it is removed
};

}  // namespace lockstep::kube
