// NCCL's log is captured, and the user still sees what was asked for.
#include "lockstep/transport/nccl_debug.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <thread>

#include "lockstep/transport/nccl_capture.h"
#include "tests/base/temporary_folder.h"

namespace lockstep::transport {
namespace {

using testing::HasSubstr;
using Texts = std::map<std::string, std::string>;

NcclDebug user_of(const Texts& environment, const Texts& files = {}) {
  const auto in = [](const Texts& texts) {
    return [&texts](const std::string& name) {
      const auto found = texts.find(name);
      return found == texts.end() ? std::nullopt : std::optional(found->second);
    };
  };
  return nccl_debug_of(in(environment), in(files));
}

TEST(NcclDebug, TheEnvironmentGoesBeforeTheFilesAndTheUsersBeforeTheSystems) {
  const Texts files = {{"/home/me/.nccl.conf", "# mine\nNCCL_DEBUG=info \n"},
                       {"/etc/nccl.conf", "NCCL_DEBUG=WARN\nNCCL_DEBUG_SUBSYS=GRAPH\n"},
                       {"/other.conf", "NCCL_DEBUG=VERSION\n"}};
  EXPECT_EQ(user_of({{"HOME", "/home/me"}}, files).level, "INFO");
  EXPECT_EQ(user_of({{"HOME", "/home/me"}}, files).subsystems, "GRAPH");
  EXPECT_EQ(user_of({{"HOME", "/home/me"}, {"NCCL_DEBUG", "TRACE"}}, files).level, "TRACE");
  EXPECT_EQ(user_of({{"NCCL_CONF_FILE", "/other.conf"}}, files).level, "VERSION");
  EXPECT_EQ(user_of({}).level, "");
}

TEST(NcclDebug, WhatIsCapturedHoldsWhatWasAskedFor) {
  const auto subsystems = [](const std::string& level, const std::string& user) {
    return with_evidence({level, user, ""}, "x").subsystems;
  };
  const std::string needed = "INIT,BOOTSTRAP,ENV,NET,P2P,SHM";
  EXPECT_EQ(subsystems("", ""), needed);
  EXPECT_EQ(subsystems("INFO", "coll,net"), needed + ",COLL");
  EXPECT_EQ(subsystems("INFO", "^COLL,NET"), "^COLL");
  EXPECT_EQ(subsystems("INFO", "^NET"), "ALL");
  EXPECT_EQ(subsystems("INFO", "ALL"), needed + ",ALL");
  EXPECT_EQ(subsystems("WARN", "COLL"), needed) << "at that level nothing of it is seen";
  EXPECT_EQ(with_evidence({"TRACE", "", ""}, "x").level, "TRACE");
  EXPECT_EQ(with_evidence({"WARN", "", ""}, "x").level, "INFO");
  EXPECT_EQ(with_evidence({}, "/a%b/x").file, "/a%%b/x");
}

TEST(NcclDebug, TheUsersLevelHidesTheRest) {
  const std::string text =
      "NCCL version 2.28.9+cuda13.0\n"
      "node-0:1:1 [0] NCCL INFO Using network Socket\n"
      "[2026-01-02 03:04:05] node-0:1:1 [0] init.cc:1 NCCL WARN trouble\n";
  EXPECT_EQ(as_asked(text, {"INFO", "", ""}), text);
  EXPECT_EQ(as_asked(text, {}), "");
  EXPECT_EQ(as_asked(text, {"VERSION", "", ""}), "NCCL version 2.28.9+cuda13.0\n");
  EXPECT_THAT(as_asked(text, {"WARN", "", ""}),
              testing::AllOf(HasSubstr("trouble"), testing::Not(HasSubstr("Socket"))));
}

TEST(NcclDebug, FileNamesAreExpandedAsNcclDoes) {
  EXPECT_EQ(expand_file_name("/logs/%h-%p-100%%.log", "node-0", 42), "/logs/node-0-42-100%.log");
  EXPECT_EQ(expand_file_name("%x%", "h", 1), "%x%");
}

class Capture : public testing::Test {
 protected:
  Capture() { ::setenv("HOME", (folder_ / "home").c_str(), 1); }
  ~Capture() override {
    for (const char* name : {"NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE"}) ::unsetenv(name);
  }

  // As NCCL does: opens what NCCL_DEBUG_FILE says, anew.
  void nccl_writes(const std::string& text) {
    if (!nccl_.is_open()) nccl_.open(expand_file_name(::getenv("NCCL_DEBUG_FILE"), "h", 1), std::ios::trunc);
    nccl_ << text << std::flush;
  }

  const TemporaryFolder folder_;
  std::ofstream nccl_;
};

TEST_F(Capture, HoldsWhatNcclWrites) {
  const NcclCapture capture(folder_ / "transport/rank-0.log");
  EXPECT_STREQ(::getenv("NCCL_DEBUG"), "INFO");
  EXPECT_EQ(capture.text(), "");
  nccl_writes("h:1:1 [0] NCCL INFO Using network Socket\n");
  EXPECT_EQ(capture.text(), "h:1:1 [0] NCCL INFO Using network Socket\n");
}

TEST_F(Capture, PassesOnWhatTheUserAskedToSee) {
  ::setenv("NCCL_DEBUG", "WARN", 1);
  ::setenv("NCCL_DEBUG_FILE", (folder_ / "user.log").c_str(), 1);
  {
    const NcclCapture capture(folder_ / "rank-0.log");
    nccl_writes("h:1:1 [0] NCCL INFO one\nh:1:1 [0] a.cc:1 NCCL WARN two\nh:1:1 [0] a.cc:1 NCCL WARN cu");
  }
  EXPECT_EQ(read_file(folder_ / "user.log"), "h:1:1 [0] a.cc:1 NCCL WARN two\n");
}

}  // namespace
}  // namespace lockstep::transport
