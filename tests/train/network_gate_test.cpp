// No training over another network than the one that is required, on two hosts that are namespaces of this
// one.
#include <gmock/gmock.h>

#include <fstream>

#include "tests/paths.h"
#include "tests/train/tiny_run.h"

namespace lockstep::train {
namespace {

using ::testing::HasSubstr;
using testing::TinyRun;

class TwoHosts : public ::testing::Test {
 protected:
  // False, with the reason shown, where this machine does not let a test make namespaces.
  bool train(std::vector<std::string> arguments) {
    ProcessOptions options = run_.options(arguments);
    options.argv.insert(options.argv.begin(), source_path("tests/train/two_hosts.sh"));
    code_ = Process::start(options).wait().code;
    return code_ != 77;
  }

  TinyRun run_;
  int code_ = 0;
};

#define NEED_NAMESPACES(ran) \
  if (!(ran)) GTEST_SKIP() << "network namespaces are not allowed here: run the tests as root"

TEST_F(TwoHosts, EfaIsRefusedOnBothRanksBeforeDataIsRead) {
  const std::string empty = run_.folder() / "empty.jsonl";  // reading it would be exit code 3
  std::ofstream{empty};
  NEED_NAMESPACES(train({"network.require=efa", "data.sources=[{path: " + empty + "}]"}));
  EXPECT_EQ(code_, 5) << run_.err();
  EXPECT_THAT(
      run_.err(),
      HasSubstr("the transport is socket, required is efa: on the CPU Gloo connects the ranks over TCP"));
  EXPECT_THAT(run_.err(), HasSubstr("exit codes: 5 5"));
  EXPECT_FALSE(std::filesystem::exists(run_.dir()));
}

TEST_F(TwoHosts, AnyTrainsAndTheInterfacesCountWhatTheShardingShouldMove) {
  // Each of a step's 8 micro-batches a rank gathers the weights anew: 20 steps move more than 50 MB.
  NEED_NAMESPACES(train({"train.steps=21", "train.global_batch=32", "train.micro_batch=2"}));
  EXPECT_EQ(code_, 0) << run_.err();
  const auto verdicts = run_.events("verdict");
  ASSERT_EQ(verdicts.size(), 2);
  const Json& start = verdicts[0].at("report");
  EXPECT_EQ(start.at("transport"), "socket");
  EXPECT_EQ(start.at("level"), "moved") << start.dump(2);
  EXPECT_EQ(start.at("moved").at("transport"), "socket");
  EXPECT_GT(start.at("efficiency").at("bus_bytes_per_s"), 0);
  EXPECT_EQ(verdicts[1].at("when"), "first steps");
  EXPECT_EQ(verdicts[1].at("report").at("moved").at("transport"), "socket") << verdicts[1].dump(2);
}

TEST_F(TwoHosts, ATooSlowNetworkIsRefused) {
  NEED_NAMESPACES(train({"network.min_efficiency=1000"}));
  EXPECT_EQ(code_, 5) << run_.err();
  EXPECT_THAT(run_.err(), HasSubstr("network.min_efficiency is 1000"));
}

TEST(NetworkGate, OneHostNeedsNoNetwork) {
  TinyRun run;
  EXPECT_EQ(run.run({"network.require=efa", "train.steps=2"}).code, 0) << run.err();
  const auto verdicts = run.events("verdict");
  ASSERT_EQ(verdicts.size(), 1);
  EXPECT_EQ(verdicts[0].at("report").at("transport"), "none");
  EXPECT_TRUE(std::filesystem::exists(run.dir() + "/transport/g001-verdict.json"));
}

}  // namespace
}  // namespace lockstep::train
