// lockstep cluster plan | up | status | doctor | logs | exec | down FILE [key=value...]
#include "lockstep/cli/cluster.h"

#include <poll.h>

#include <csignal>
#include <cstdio>

#include "lockstep/base/clock.h"
#include "lockstep/base/error.h"

namespace lockstep::cli {

void add_cluster_file(CLI::App& command, ClusterArguments& arguments) {
  command
      .add_option("FILE", arguments.path,
                  "Cluster settings (docs/cluster.md), or a file of shell variables that ends in .sh or .env")
      ->required();
}

void add_cluster_settings(CLI::App& command, ClusterArguments& arguments) {
  add_cluster_file(command, arguments);
  command.add_option("SETTING=VALUE", arguments.overrides, "Settings that take the place of the file's")
      ->type_name("");
}

ClusterSession::ClusterSession()
    : runner_([this] { return stop_asked(); }),
      surroundings_{
          .runner = runner_,
          .say = [](const std::string& line) { std::fprintf(stderr, "lockstep: %s\n", line.c_str()); },
          .pause = [this](std::chrono::seconds time) { pause(time); },
          .now = [] { return std::chrono::system_clock::now(); }} {}

bool ClusterSession::stop_asked() {
  bool asked = false;
  for (const int signal : signals_.take()) {
    if (signal == SIGTSTP)
      ::raise(SIGSTOP);
    else
      asked = true;
  }
  return asked;
}

void ClusterSession::pause(std::chrono::seconds time) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  while (true) {
    if (stop_asked()) throw InterruptedError("interrupted");
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return;
    pollfd readable{signals_.poll_fd(), POLLIN, 0};
    ::poll(&readable, 1, static_cast<int>(left.count()));
  }
}

ClusterAccess::ClusterAccess(const ClusterArguments& arguments)
    : deployment_(cluster::eks::assumed_deployment(
          cluster::eks::ClusterSettings::load(arguments.path, arguments.overrides))),
      kubernetes_(session_.surroundings().runner, deployment_) {}

std::string today() { return utc_now().substr(0, std::string("2026-01-02").size()); }

cluster::eks::Preflight look_before(const cluster::eks::ClusterSettings& settings, ClusterSession& session) {
  cluster::CommandRunner& runner = session.surroundings().runner;
  cluster::eks::Aws aws(runner, settings.region);
  return cluster::eks::look_before(aws, settings, today(),
                                   [&](const cluster::ImageReference& image, const std::string& platform) {
                                     return cluster::resolve_image(image, platform, runner);
                                   });
}

void add_cluster(CLI::App& root, Action& action) {
  CLI::App* cluster =
      root.add_subcommand("cluster", "Plan, make, look after and remove a cluster on Amazon EKS");
  cluster->require_subcommand(0, 1);
  cluster->footer("`lockstep cluster COMMAND --help` says more. All settings: docs/cluster.md.");
  add_cluster_plan(*cluster, action);
  add_cluster_up(*cluster, action);
  add_cluster_status(*cluster, action);
  add_cluster_doctor(*cluster, action);
  add_cluster_logs(*cluster, action);
  add_cluster_exec(*cluster, action);
  add_cluster_down(*cluster, action);
  add_cluster_submit(*cluster, action);
  add_cluster_fetch(*cluster, action);
}

}  // namespace lockstep::cli
