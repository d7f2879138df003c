// What the commands of `lockstep cluster` share: arguments, and programs that Ctrl-C ends in good order.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "lockstep/cli/commands.h"
#include "lockstep/cluster/eks/kubernetes.h"
#include "lockstep/cluster/eks/preflight.h"
#include "lockstep/cluster/eks/surroundings.h"
#include "lockstep/launch/stop_signals.h"

namespace lockstep::cli {

struct ClusterArguments {
  std::string path;
  std::vector<std::string> overrides;
};

void add_cluster_file(CLI::App& command, ClusterArguments& arguments);
// FILE and KEY=VALUE...
void add_cluster_settings(CLI::App& command, ClusterArguments& arguments);

// While one lives, SIGINT, SIGTERM and SIGHUP end the program that runs, or the wait, with InterruptedError;
// the next of them the next. Progress goes to standard error.
class ClusterSession {
 public:
  ClusterSession();
  const cluster::eks::Surroundings& surroundings() const { return surroundings_; }

 private:
  bool stop_asked();
  void pause(std::chrono::seconds time);

  launch::StopSignals signals_;
  cluster::ProcessRunner runner_;
  cluster::eks::Surroundings surroundings_;
};

// A cluster that is there, and kubectl on it.
class ClusterAccess {
 public:
  // Reads the settings, and fetches access to the cluster. Throws ConfigError and CommandError.
  explicit ClusterAccess(const ClusterArguments& arguments);

  const cluster::eks::Deployment& deployment() const { return deployment_; }
  const cluster::eks::Surroundings& surroundings() const { return session_.surroundings(); }
  cluster::eks::Kubernetes& kubernetes() { return kubernetes_; }

 private:
  const cluster::eks::Deployment deployment_;
  ClusterSession session_;
  cluster::eks::Kubernetes kubernetes_;
};

// "2026-01-02", in UTC.
std::string today();

// What stands in the way of a cluster: AWS and the image's registry are asked.
cluster::eks::Preflight look_before(const cluster::eks::ClusterSettings& settings, ClusterSession& session);

void add_cluster_plan(CLI::App& cluster, Action& action);
void add_cluster_up(CLI::App& cluster, Action& action);
void add_cluster_status(CLI::App& cluster, Action& action);
void add_cluster_doctor(CLI::App& cluster, Action& action);
void add_cluster_logs(CLI::App& cluster, Action& action);
void add_cluster_exec(CLI::App& cluster, Action& action);
void add_cluster_down(CLI::App& cluster, Action& action);
void add_cluster_submit(CLI::App& cluster, Action& action);
void add_cluster_fetch(CLI::App& cluster, Action& action);

}  // namespace lockstep::cli
