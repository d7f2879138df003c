// lockstep cluster fetch RUN
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>

#include "lockstep/base/byte_size.h"
#include "lockstep/base/error.h"
#include "lockstep/cli/cluster.h"
#include "lockstep/cluster/pod/run_fetch.h"

namespace lockstep::cli {
namespace {

struct FetchArguments {
  std::string run, cluster = "cluster.yaml", output;
  bool leave_out_checkpoints = false, go_on = false, json = false;
};

int fetch(const FetchArguments& arguments) {
  const std::filesystem::path run(arguments.run);
  if (!run.is_absolute())
    throw ConfigError(
        fmt::format("cluster: {} is no path that starts with a slash: give the run's run.dir, as "
                    "the pods see it. A run in a bucket: aws s3 sync",
                    arguments.run));
  const std::string target =
      arguments.output.empty() ? "runs/" + run.lexically_normal().filename().string() : arguments.output;

  ClusterAccess access({.path = arguments.cluster});
  cluster::pod::HeadPod head(access.kubernetes(), access.deployment());
  const auto fetched = cluster::pod::fetch_run(head,
                                               {.run = arguments.run,
                                                .target = target,
                                                .leave_out_checkpoints = arguments.leave_out_checkpoints,
                                                .go_on = arguments.go_on},
                                               access.surroundings());
  if (arguments.json) {
    const Json result = {{"version", 1},
                         {"folder", target},
                         {"files", fetched.files},
                         {"bytes", fetched.bytes},
                         {"there", fetched.there}};
    std::cout << result.dump(2) << '\n';
  } else {
    std::cout << fmt::format("{}: {} files, {}{}\n", target, fetched.files, format_bytes(fetched.bytes),
                             fetched.there > 0 ? fmt::format("; {} were there", fetched.there) : "");
  }
  return 0;
}

}  // namespace

void add_cluster_fetch(CLI::App& cluster, Action& action) {
  CLI::App* command = cluster.add_subcommand("fetch", "Bring a run's folder from the cluster's storage");
  auto arguments = std::make_shared<FetchArguments>();
  command->add_option("RUN", arguments->run, "The run's folder as the pods see it: run.dir of its recipe")
      ->required();
  command->add_option("--cluster", arguments->cluster, "The cluster's settings (default: cluster.yaml)")
      ->type_name("FILE");
  command->add_option("--output", arguments->output, "The folder here (default: runs/ and the run's name)")
      ->type_name("FOLDER");
  command->add_flag("--continue", arguments->go_on,
                    "Into a folder that is there: only what it lacks, or has otherwise");
  command->add_flag("--no-checkpoints", arguments->leave_out_checkpoints, "Leave out the run's checkpoints");
  command->add_flag("--json", arguments->json, "Print one JSON document instead of a line");
  command->footer(
      "Comes through Ray's head, by kubectl exec. Every file is compared with its SHA-256 there before it "
      "gets "
      "its name;\nuntil then it is NAME.unfinished. A connection that breaks is taken up where it was.\n\n"
      "Example:\n"
      "  lockstep cluster fetch /fsx/runs/first --cluster cluster.yaml --no-checkpoints");
  command->callback([=, &action] { action = [=] { return fetch(*arguments); }; });
}

}  // namespace lockstep::cli
