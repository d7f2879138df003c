#include <gmock/gmock.h>

#include <string>

#include "lockstep/base/json.h"
#include "lockstep_program.h"

namespace lockstep::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string log(const std::string& name) { return "tests/data/transport/" + name; }

int exit_code(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"transport", "check"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return lockstep(words).exit_code;
}

TEST(TransportCheck, TheExitCodeSaysWhetherItIsAsRequired) {
  EXPECT_EQ(exit_code({log("a01_p4d_efa_gdr_2x8.log"), "--require", "efa"}), 0);
  EXPECT_EQ(exit_code({log("a06_ib_gdr_2x8.log"), "--require", "ib"}), 0);
  EXPECT_EQ(exit_code({log("a07_roce_no_gdr.log"), "--require", "roce"}), 0);
  EXPECT_EQ(exit_code({log("a07_roce_no_gdr.log"), "--require", "ib"}), 5);
  for (const char* name :
       {"a03_socket_no_plugin.log", "a04_single_node_nvlink.log", "a06_ib_gdr_2x8.log",
        "a08_ofi_provider_tcp.log", "a09_plugin_on_one_node.log", "a14_truncated_half_ranks.log",
        "a18_debug_warn_only.log", "a25_second_comm_socket.log"}) {
    EXPECT_EQ(exit_code({log(name), "--require", "efa"}), 5) << name;
  }
}

TEST(TransportCheck, WithoutARequirementAllButUnknownPasses) {
  EXPECT_EQ(exit_code({log("a03_socket_no_plugin.log")}), 0);
  EXPECT_EQ(exit_code({log("a04_single_node_nvlink.log")}), 0);
  EXPECT_EQ(exit_code({log("a14_truncated_half_ranks.log")}), 5);
}

TEST(TransportCheck, OneJobThatIsNotAsRequiredIsEnough) {
  EXPECT_EQ(exit_code({log("a01_p4d_efa_gdr_2x8.log"), log("a02_p5_efa_direct_2x8.log"), "--require", "efa"}),
            0);
  EXPECT_EQ(exit_code({log("a01_p4d_efa_gdr_2x8.log"), log("a03_socket_no_plugin.log"), "--require", "efa"}),
            5);
}

TEST(TransportCheck, SelectedAloneDoesNotDoWhereConnectedIsAskedFor) {
  EXPECT_EQ(exit_code({log("a15_init_only_lazy.log"), "--require", "efa"}), 0);
  EXPECT_EQ(exit_code({log("a15_init_only_lazy.log"), "--require", "efa", "--level", "connected"}), 5);
  EXPECT_EQ(exit_code({log("a01_p4d_efa_gdr_2x8.log"), "--require", "efa", "--level", "connected"}), 0);
}

TEST(TransportCheck, WrongUsageIsSaid) {
  EXPECT_EQ(exit_code({}), 2);
  EXPECT_EQ(exit_code({"no-such.log"}), 2);
  EXPECT_EQ(exit_code({log("a01_p4d_efa_gdr_2x8.log"), "--require", "infiniband"}), 2);
  EXPECT_THAT(lockstep({"transport", "chekc", "x"}).err, HasSubstr("did you mean check?"));
}

TEST(TransportCheck, ARefusalSaysWhatItIsAndWhy) {
  const auto checked = lockstep({"transport", "check", "--require", "efa", log("a03_socket_no_plugin.log")});
  EXPECT_THAT(checked.err,
              StartsWith("lockstep: error: tests/data/transport/a03_socket_no_plugin.log: the transport is "
                         "socket, required is efa: "));
  EXPECT_THAT(checked.err, HasSubstr("NCCL finds no network plugin"));
  EXPECT_THAT(checked.out, HasSubstr("NCCL INFO Channel 00/0 : 15[7] -> 0[0] [receive] via NET/Socket/0"));
}

TEST(TransportCheck, StandardInputIsALogToo) {
  const auto checked = shell("lockstep transport check --format tsv - < " + log("a02_p5_efa_direct_2x8.log"));
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("\n-\t2\t16\tefa\tLibfabric\tefa\tyes\t"));
}

TEST(TransportCheck, ThroughAPipeItReadsAsItComes) {
  const auto checked = shell("head -c 20000 " + log("a02_p5_efa_direct_2x8.log") +
                             " | lockstep transport check - --require efa");
  EXPECT_EQ(checked.exit_code, 5);
}

TEST(TransportCheck, JsonHasWhatTheTableHas) {
  const auto checked = lockstep({"transport", "check", "--format", "json", log("a13_hsdp_split_comms.log")});
  const Json json = Json::parse(checked.out);
  EXPECT_EQ(json["version"], 1);
  const Json& job = json["jobs"][0];
  EXPECT_EQ(job["passes"], true);
  EXPECT_EQ(job["transport"], "efa");
  EXPECT_EQ(job["communicators"].size(), 11u);
  EXPECT_EQ(job["communicators"][3]["pairs"][0]["ranks"], Json({0, 1}));
  EXPECT_EQ(job["proof"][0]["log"], log("a13_hsdp_split_comms.log"));
  EXPECT_EQ(job["nccl_lines"].get<int>() > 1000, true);
}

}  // namespace
}  // namespace lockstep::cli
