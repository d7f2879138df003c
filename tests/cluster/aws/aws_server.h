// AWS for tests: its own command line, against a server on loopback (aws_server.py), and a made-up eksctl,
// kubectl and helm (eks/fake_world.h) whose doings are made in that AWS as well.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lockstep/base/process.h"
#include "lockstep/base/temporary_folder.h"
#include "lockstep/cluster/command_runner.h"
#include "tests/cluster/eks/fake_world.h"

namespace lockstep::cluster::eks {

class AwsServer : public CommandRunner {
 public:
  // False where scripts/setup --aws has not been run: tests are skipped.
  static bool is_installed();

  explicit AwsServer(const std::vector<std::string>& zones_with_room);

  CommandResult run(const Command& command) override;
  // `aws` with these arguments, which must succeed. Returns its output.
  std::string aws(std::vector<std::string> arguments);
  // With which a program that AWS's libraries are in asks this server, and nobody else.
  std::map<std::string, std::string> environment() const;

  FakeWorld world;  // of eksctl, kubectl and helm

 private:
  void make_stack(const std::string& name);
  void make_cluster();
  void make_group(const std::string& name);
  void remove_cluster();

  TemporaryFolder folder_;
  std::unique_ptr<Process> process_;
  ProcessRunner runner_;
  std::string endpoint_, subnets_;
};

}  // namespace lockstep::cluster::eks
