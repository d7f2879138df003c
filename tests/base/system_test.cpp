// Hashes, environment variables, file errors, the log, failed checks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <fstream>

#include "lockstep/base/check.h"
#include "lockstep/base/env_var.h"
#include "lockstep/base/error.h"
#include "lockstep/base/io_error.h"
#include "lockstep/base/log.h"
#include "lockstep/base/sha256.h"
#include "tests/base/temporary_folder.h"

namespace lockstep {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Sha256, GivesThePublishedDigests) {  // FIPS 180-4's examples
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, DoesNotDependOnThePieces) {
  Sha256 hash;
  hash.update("a");
  hash.update("");
  EXPECT_EQ(hash.hex(), sha256_hex("a"));
  hash.update("bc");
  EXPECT_EQ(hash.hex(), sha256_hex("abc")) << "asking for the digest ends nothing";
}

TEST(Sha256, HashesFiles) {
  const TemporaryFolder folder;
  const std::string text(2'500'000, 'x');  // more than two pieces, the last one not whole
  std::ofstream(folder / "file") << text;
  EXPECT_EQ(sha256_file(folder / "file"), sha256_hex(text));
  EXPECT_THROW(sha256_file(folder / "none"), IoError);
  EXPECT_THROW(sha256_file(folder.path()), IoError);
}

TEST(EnvVar, ReadsTextAndNumbers) {
  ::setenv("LOCKSTEP_TEST_NUMBER", "12", 1);
  ::setenv("LOCKSTEP_TEST_EMPTY", "", 1);
  ::unsetenv("LOCKSTEP_TEST_UNSET");
  EXPECT_EQ(env_var("LOCKSTEP_TEST_EMPTY"), "");
  EXPECT_EQ(env_var("LOCKSTEP_TEST_UNSET"), std::nullopt);
  EXPECT_EQ(env_int("LOCKSTEP_TEST_NUMBER", 0, 12), 12);
  EXPECT_EQ(env_int("LOCKSTEP_TEST_UNSET", 0, 12), std::nullopt);
}

TEST(EnvVar, RefusesWhatIsNoNumberInRange) {
  for (const char* value : {"", "ten", "12x", " 1", "13", "-1", "99999999999999999999"}) {
    ::setenv("LOCKSTEP_TEST_NUMBER", value, 1);
    EXPECT_THROW(env_int("LOCKSTEP_TEST_NUMBER", 0, 12), ConfigError) << value;
  }
}

TEST(IoErrorWords, SayWhereWhatAndTheWayOut) {
  try {
    throw_io_error("write", "runs/x/metrics", ENOSPC);
    FAIL();
  } catch (const IoError& error) {
    EXPECT_STREQ(
        error.what(),
        "cannot write runs/x/metrics: No space left on device; free some space, or choose another disk with "
        "run.dir");
    EXPECT_EQ(error.exit_code(), ExitCode::kStorage);
  }
}

TEST(IoErrorWords, TellWhatWouldFailAgain) {
  for (const int error : {ENOSPC, EDQUOT, EROFS, EACCES, ENOTDIR}) {
    EXPECT_THROW(throw_io_error("write", "x", error), PermanentIoError) << errno_words(error);
  }
  for (const int error : {EIO, ESTALE, ETIMEDOUT, ECONNRESET}) {
    try {
      throw_io_error("write", "x", error);
    } catch (const PermanentIoError&) {
      ADD_FAILURE() << errno_words(error);
    } catch (const IoError&) {
    }
  }
}

TEST(ExitCodes, OnlyAccidentsAreWorthARetry) {
  for (int code : {7, 10, 11, 12, 128 + SIGKILL, 128 + SIGSEGV}) EXPECT_TRUE(worth_a_retry(code)) << code;
  for (int code : {0, 1, 2, 3, 4, 5, 6, 8, 128, 130, 255}) EXPECT_FALSE(worth_a_retry(code)) << code;
}

TEST(Log, WritesLevelRankAndMessage) {
  ::testing::internal::CaptureStderr();
  log::info("{} of {}", 7, 9);
  log::debug("too much detail");
  log::set_rank(3);
  log::warning("slow {}", "disk");
  const std::string written = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(written, ContainsRegex("....-..-..T..:..:..\\....Z info    7 of 9\n"));
  EXPECT_THAT(written, ContainsRegex("Z warning rank 3: slow disk\n"));
  EXPECT_THAT(written, Not(HasSubstr("detail")));
}

TEST(CheckDeathTest, StopsWithPlaceConditionAndDetails) {
  const int ranks = 3;
  LOCKSTEP_CHECK(ranks == 3) << "not evaluated";
  EXPECT_DEATH(LOCKSTEP_CHECK(ranks == 4) << "ranks is " << ranks,
               "system_test.cpp:[0-9]+: check failed: ranks == 4 ranks is 3");
}

}  // namespace
}  // namespace lockstep
