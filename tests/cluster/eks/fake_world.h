// AWS and eksctl as far as `cluster plan`, `up` and `down` use them, in memory, with a Kubernetes cluster for
// kubectl and helm: commands change its state and are answered from it. One command may be made to fail.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/cluster/command_runner.h"
#include "lockstep/cluster/eks/surroundings.h"
#include "tests/cluster/eks/fake_kubernetes.h"

namespace lockstep::cluster::eks {

enum class Failure {
  kError,         // refused: half of what it makes is there, if it makes several things
  kTimeout,       // did its work, and never told
  kGarbage,       // did its work, and answered nonsense
  kInterrupt,     // Ctrl-C before it did anything
  kInterruptLate  // Ctrl-C after it did its work
};

class FakeWorld : public CommandRunner {
 public:
  CommandResult run(const Command& command) override;

  struct Fault {
    size_t at;  // counted from 0
    Failure kind;
  };
  std::optional<Fault> fault;
  size_t num_commands = 0;
  std::vector<std::string> log;  // every command line

  // Settings of the world.
  std::map<std::string, bool> has_room = {{"us-east-2a", false}, {"us-east-2b", true}, {"us-east-2c", true}};
  int64_t gpu_quota = 96;
  std::string cluster_versions =
      R"([{"clusterVersion":"1.36","endOfStandardSupportDate":"2027-07-01","versionStatus":"STANDARD_SUPPORT"},
          {"clusterVersion":"1.34","endOfStandardSupportDate":"2026-12-02","versionStatus":"EXTENDED_SUPPORT"}])";
  bool eksctl_drops_reservation = false;
  bool leaves_things_behind = true;  // volumes, log groups, interfaces that eksctl forgets

  // What is there.
  struct Reservation {
    std::string id, zone, type, end;
    bool is_ours = true, is_active = true;
    int64_t total = 0, used = 0;
  };
  struct NodeGroup {
    std::string status, reservation;
    int64_t desired = 0;
  };
  std::vector<Reservation> reservations;
  std::string cluster_status;
  std::map<std::string, std::string> stacks;
  std::map<std::string, NodeGroup> node_groups;
  FakeKubernetes kubernetes;
  std::set<std::string> volumes, interfaces, log_groups, schedules;

  int64_t idle_reservations() const;  // ours that bill though no node is in them
  bool is_whole() const;
  std::vector<std::string> what_is_left() const;

  // A clock that every pause moves on.
  Surroundings surroundings();
  std::vector<std::string> said;

 private:
  CommandResult answer(const Command& command);
  CommandResult aws(const std::vector<std::string>& argv);
  CommandResult ec2(const std::vector<std::string>& argv);
  CommandResult eksctl(const Command& command);
  CommandResult kubectl(const Command& command);
  void make_group(const std::string& name, const Json& config);
  void remove_group(const std::string& name);
  void remove_cluster();
  void fail_half_way(const Command& command);

  std::chrono::system_clock::time_point now_ = std::chrono::system_clock::from_time_t(1'770'000'000);
  int next_id_ = 1;
};

}  // namespace lockstep::cluster::eks
