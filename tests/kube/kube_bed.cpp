#include "kube_bed.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "lockstep/base/check.h"
#include "lockstep/base/clock.h"
#include "lockstep/base/env_var.h"
#include "lockstep/base/file_descriptor.h"
#include "tests/paths.h"

namespace lockstep::kube {
namespace {

constexpr const char* kTools = LOCKSTEP_KUBE_TOOLS;

void must(const std::vector<std::string>& argv) {
  cluster::ProcessRunner runner;
  cluster::run_or_throw(runner, {.argv = argv, .env = {}, .input = ""});
}

}  // namespace

std::string free_address() {
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* raw = reinterpret_cast<sockaddr*>(&address);
  LOCKSTEP_CHECK(::bind(socket.get(), raw, size) == 0 && ::getsockname(socket.get(), raw, &size) == 0)
      << "no port";
  return fmt::format("127.0.0.1:{}", ntohs(address.sin_port));
}

std::string port_of(const std::string& address) { return address.substr(address.find(':') + 1); }

// Allocatable as EKS nodes show it: less than the machine has, by what kubelet and system keep.
NodeShape m7i_xlarge() {
  return {"m7i.xlarge", {{"cpu", "3920m"}, {"memory", "14162Mi"}, {"pods", "58"}}, {{"role", "system"}}};
}

NodeShape g6_12xlarge() {
  return {"g6.12xlarge",
          {{"cpu", "47810m"},
           {"memory", "178933Mi"},
           {"pods", "234"},
           {"nvidia.com/gpu", "4"},
           {"vpc.amazonaws.com/efa", "1"}},
          {{"role", "gpu-worker"}, {"nvidia.com/gpu.present", "true"}},
          {{{"key", "nvidia.com/gpu"}, {"value", "present"}, {"effect", "NoSchedule"}}}};
}

KubeBed::KubeBed() {
  for (const char* name : {"programs", "temporary"}) std::filesystem::create_directory(folder_ / name);
  start_etcd();
  start_api_server();
  // Before the controller manager: its garbage collector looks only now and then for new kinds.
  kubectl({"create", "-f", std::string(kTools) + "/crds"});
  start_controllers();
  wait_for("a service account for pods", [&] {
    return run({"get", "serviceaccount", "default"}).exit_code == 0;
  });
}

KubeBed& KubeBed::shared() {
  static KubeBed bed;
  return bed;
}

void KubeBed::start(const std::string& program, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), std::string(kTools) + "/" + program);
  start_process(program, arguments);
}

void KubeBed::start_program(const std::string& name) { start_process(name, {folder_ / "programs/" + name}); }

void KubeBed::start_process(const std::string& name, std::vector<std::string> argv) {
  processes_.push_back(Process::start(
      {.argv = std::move(argv),
       .environment = {{"KUBECONFIG", kubeconfig()},
                       {"POD_NAMESPACE", "default"},
                       {"TMPDIR", temporary_folder()},
                       {"PATH", (folder_ / "programs") + ":" + env_var("PATH").value_or("/usr/bin:/bin")}},
       .standard_output = Output::file(folder_ / name + ".log"),
       .standard_error = Output::with_stdout()}));
}

void KubeBed::start_etcd() {
  etcd_ = "http://" + free_address();
  const std::string peer = "http://" + free_address();
  start("etcd",
        {"--name=bed", "--data-dir=" + folder_ / "etcd", "--listen-client-urls=" + etcd_,
         "--advertise-client-urls=" + etcd_, "--listen-peer-urls=" + peer,
         "--initial-advertise-peer-urls=" + peer, "--initial-cluster=bed=" + peer, "--unsafe-no-fsync"});
}

void KubeBed::start_api_server() {
  server_ = free_address();
  const std::string key = folder_ / "accounts.key";
  must({"openssl", "genrsa", "-out", key, "2048"});
  std::ofstream(folder_ / "tokens.csv") << "tests,admin,admin,system:masters\n";
  std::ofstream(kubeconfig()) << fmt::format(
      "apiVersion: v1\nkind: Config\ncurrent-context: bed\n"
      "clusters: [{{name: bed, cluster: {{server: \"https://{}\", insecure-skip-tls-verify: true}}}}]\n"
      "users: [{{name: admin, user: {{token: tests}}}}]\n"
      "contexts: [{{name: bed, context: {{cluster: bed, user: admin}}}}]\n",
      server_);
  start("kube-apiserver",
        {"--etcd-servers=" + etcd_, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
         "--secure-port=" + port_of(server_), "--cert-dir=" + folder_ / "certificates",
         "--token-auth-file=" + folder_ / "tokens.csv", "--authorization-mode=RBAC",
         "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.96.0.0/16",
         "--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + key,
         "--service-account-signing-key-file=" + key, "--kubelet-preferred-address-types=InternalIP",
         "--allow-privileged=true", "--profiling=false"});
  wait_for("the API server", [&] { return run({"get", "--raw=/readyz"}).exit_code == 0; });
}

void KubeBed::start_controllers() {
  const std::string config = "--kubeconfig=" + kubeconfig();
  // A node counts as lost only when it is deleted: on a busy machine kwok may be late with its heartbeats,
  // and it would not make the pods ready again.
  start("kube-controller-manager", {config, "--node-monitor-grace-period=1h", "--leader-elect=false",
                                    "--secure-port=0", "--use-service-account-credentials=false",
                                    "--service-account-private-key-file=" + folder_ / "accounts.key",
                                    "--root-ca-file=" + folder_ / "certificates/apiserver.crt"});
  start("kube-scheduler", {config, "--leader-elect=false", "--secure-port=0"});
  const std::string kubelet = free_address();
  start("kubelet", {kubelet});
  start("kwok", {config, "--manage-all-nodes=true", "--node-ip=127.0.0.1", "--node-port=" + port_of(kubelet),
                 "--server-address=" + free_address(), "--config=" + source_path("tests/kube/kwok.yaml")});
  start("ray-operator", {"--enable-leader-election=false", "--metrics-addr=0",
                         "--health-probe-bind-address=0", "--log-stdout-encoder=console"});
}

cluster::CommandResult KubeBed::run(const std::vector<std::string>& arguments, const std::string& input) {
  cluster::Command command{.argv = arguments, .env = {{"KUBECONFIG", kubeconfig()}}, .input = input};
  command.argv.insert(command.argv.begin(), std::string(kTools) + "/kubectl");
  cluster::ProcessRunner runner;
  return runner.run(command);
}

std::string KubeBed::kubectl(const std::vector<std::string>& arguments, const std::string& input) {
  const cluster::CommandResult result = run(arguments, input);
  LOCKSTEP_CHECK(result.exit_code == 0) << "kubectl " << arguments.at(0) << ": " << result.err;
  return result.out;
}

Json KubeBed::get(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "get");
  arguments.emplace_back("--output=json");
  return Json::parse(kubectl(arguments));
}

void KubeBed::add_node(const std::string& name, const NodeShape& shape) {
  Json node = {{"apiVersion", "v1"},
               {"kind", "Node"},
               {"metadata",
                {{"name", name},
                 {"labels",
                  {{"kubernetes.io/os", "linux"},
                   {"kubernetes.io/arch", "amd64"},
                   {"node.kubernetes.io/instance-type", shape.instance_type},
                   {"topology.kubernetes.io/zone", "us-east-1a"}}}}},
               {"spec", {{"providerID", "aws:///us-east-1a/i-" + name}}},
               {"status", {{"allocatable", shape.allocatable}, {"capacity", shape.allocatable}}}};
  node["metadata"]["labels"].update(shape.labels);
  if (!shape.taints.empty()) node["spec"]["taints"] = shape.taints;
  kubectl({"create", "-f", "-"}, node.dump());
}

void KubeBed::add_program(const std::string& name, const std::string& script) {
  const std::string path = folder_ / "programs/" + name;
  std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

void KubeBed::add_namespace(const std::string& name) {
  if (run({"get", "namespace", name}).exit_code != 0) kubectl({"create", "namespace", name});
  wait_for("a service account in " + name, [&] {
    return run({"get", "serviceaccount", "default", "--namespace=" + name}).exit_code == 0;
  });
}

void KubeBed::wait_for(const std::string& what, const std::function<bool()>& look) {
  const Stopwatch waited;
  while (!look()) {
    for (size_t i = 0; i < processes_.size(); ++i)
      LOCKSTEP_CHECK(!processes_[i].poll()) << "process " << i << " ended";
    LOCKSTEP_CHECK(waited.seconds() < 120) << "waited in vain for " << what << "\n"
                                           << run({"get", "pods", "--all-namespaces", "--output=wide"}).out;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace lockstep::kube
