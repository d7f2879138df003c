// The store of s3:// locations against a real server.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "lockstep/base/error.h"
#include "lockstep/base/io_error.h"
#include "lockstep/storage/retrying_store.h"
#include "tests/storage/get_text.h"
#include "tests/storage/s3_server.h"

namespace lockstep::storage {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

// No two MiB of it are alike.
std::string large_value(size_t size) {
  std::string value(size, '\0');
  for (size_t i = 0; i < size; ++i) value[i] = static_cast<char>((i * 2654435761u) >> 13);
  return value;
}
constexpr size_t kMiB = size_t{1} << 20;

class S3StoreTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (S3Server::is_installed()) server_ = new S3Server({"--num-keys", "1234"});
  }
  static void TearDownTestSuite() { delete server_; }

  void SetUp() override {
    if (!server_) GTEST_SKIP() << "no S3 server here: scripts/setup --s3 installs it";
    use_access_key("somebody");
  }

  // A store of the test's own prefix.
  static std::unique_ptr<ObjectStore> open() { return open_store(server_->location(test_name())); }
  static std::string test_name() { return testing::UnitTest::GetInstance()->current_test_info()->name(); }

  static inline S3Server* server_ = nullptr;
};

TEST_F(S3StoreTest, GetReturnsWhatPutWrote) {
  const auto store = open();
  const std::string value("a\0b\n\xff", 5);
  store->put("step-1/shard 0+1%.bin", as_bytes(value));
  EXPECT_EQ(get_text(*store, "step-1/shard 0+1%.bin"), value);
  store->put("step-1/shard 0+1%.bin", as_bytes("new"));
  EXPECT_EQ(get_text(*store, "step-1/shard 0+1%.bin"), "new");
  store->put("empty", {});
  EXPECT_EQ(get_text(*store, "empty"), "");
  EXPECT_EQ(get_text(*store, "absent"), std::nullopt);
  EXPECT_EQ(get_text(*store, "step-1"), std::nullopt);
}

TEST_F(S3StoreTest, GetOfARangeStopsAtTheEnd) {
  const auto store = open();
  store->put("value", as_bytes("0123456789"));
  EXPECT_EQ(get_text(*store, "value", {.offset = 3, .length = 4}), "3456");
  EXPECT_EQ(get_text(*store, "value", {.offset = 8, .length = 4}), "89");
  EXPECT_EQ(get_text(*store, "value", {.offset = 10, .length = 4}), "");
  EXPECT_EQ(get_text(*store, "value", {.offset = 99}), "");
  EXPECT_EQ(get_text(*store, "value", {.length = 0}), "");
}

TEST_F(S3StoreTest, ListIsSortedAndTakesAnyPrefix) {
  const auto store = open();
  for (const char* key : {"b/step-2", "b/step-10", "a", "b/other/x", "bc"}) store->put(key, {});
  EXPECT_THAT(store->list(""), ElementsAre("a", "b/other/x", "b/step-10", "b/step-2", "bc"));
  EXPECT_THAT(store->list("b"), ElementsAre("b/other/x", "b/step-10", "b/step-2", "bc"));
  EXPECT_THAT(store->list("b/st"), ElementsAre("b/step-10", "b/step-2"));
  EXPECT_THAT(store->list("absent/"), IsEmpty());
}

TEST_F(S3StoreTest, ListGoesBeyondTheThousandKeysOfOneAnswer) {
  const auto keys = open_store(server_->location(""))->list("many/");
  ASSERT_EQ(keys.size(), 1234);
  EXPECT_EQ(keys.front(), "many/00000");
  EXPECT_EQ(keys.back(), "many/01233");
}

TEST_F(S3StoreTest, RemovedKeysAreGoneAndNothingIsListedInTheirPlace) {
  const auto store = open();
  store->put("step-1/a", as_bytes("x"));
  store->remove("step-1/a");
  EXPECT_EQ(get_text(*store, "step-1/a"), std::nullopt);
  EXPECT_THAT(store->list(""), IsEmpty());
  EXPECT_NO_THROW(store->remove("step-1/a"));
  EXPECT_NO_THROW(store->remove("never/there"));
}

TEST_F(S3StoreTest, ALargeValueGoesInPartsAndComesBackWhole) {
  const auto store = open();
  const std::string value = large_value(85 * kMiB + 12345);
  store->put("large", as_bytes(value));
  EXPECT_TRUE(get_text(*store, "large") == value);
  EXPECT_TRUE(get_text(*store, "large", {.offset = 70 * kMiB - 1, .length = 3 * kMiB}) ==
              value.substr(70 * kMiB - 1, 3 * kMiB));
}

TEST_F(S3StoreTest, AppendIsRefusedWithTheWayOut) {
  const auto store = open();
  EXPECT_THAT([&] { store->append("metrics", as_bytes("x")); },
              ThrowsMessage<PermanentIoError>(HasSubstr("keep run.dir on a path")));
}

TEST_F(S3StoreTest, ABucketThatIsNotThereIsNamed) {
  const std::string location = server_->location("runs");
  EXPECT_THAT([&] { open_store("s3://nobody" + location.substr(location.find("/runs"))); },
              ThrowsMessage<PermanentIoError>(HasSubstr("cannot open s3://nobody: there is no such bucket")));
}

TEST_F(S3StoreTest, RefusedCredentialsAreNotTriedAgain) {
  use_access_key("unknown");
  const auto store = open_retrying_store(server_->location("runs"), {.max_time = 2s});
  EXPECT_THAT([&] { store->put("key", as_bytes("x")); },
              ThrowsMessage<PermanentIoError>(AllOf(HasSubstr("cannot write s3://bucket/runs/key"),
                                                    HasSubstr("does not exist in our records"),
                                                    HasSubstr("check AWS_ACCESS_KEY_ID"))));
  use_access_key("forbidden");
  EXPECT_THAT([&] { open()->list(""); },
              ThrowsMessage<PermanentIoError>(AllOf(HasSubstr("ACCESS_DENIED"), HasSubstr("s3:ListBucket"))));
}

TEST_F(S3StoreTest, ExpiredKeysSayWhatRenewsThem) {
  use_access_key("expired");
  EXPECT_THAT([] { open(); }, ThrowsMessage<IoError>(HasSubstr("HTTP status 400")));
  use_access_key("somebody");
  const auto store = open();
  use_access_key("expired");
  EXPECT_THAT(
      [&] { store->put("key", as_bytes("x")); },
      ThrowsMessage<IoError>(AllOf(HasSubstr("token has expired"), HasSubstr("use EKS Pod Identity"))));
}

TEST_F(S3StoreTest, WithoutCredentialsNothingIsAsked) {
  use_no_access_key();
  EXPECT_THAT([] { open(); }, ThrowsMessage<PermanentIoError>(
                                  AllOf(HasSubstr("no credentials"), HasSubstr("AWS_ACCESS_KEY_ID"))));
}

// Keys that live for 2 s stand for those of a pod, which live for hours.
TEST_F(S3StoreTest, KeysFromPodIdentityAreRenewedWhenTheyExpire) {
  use_no_access_key();
  ::setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", server_->credentials_uri(2).c_str(), 1);
  ::setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", server_->token_file().c_str(), 1);
  const auto store = open();
  store->put("step-0", as_bytes("0"));
  const int64_t num_given_before = server_->num_keys_given();
  std::this_thread::sleep_for(2100ms);
  store->put("step-1", as_bytes("1"));
  EXPECT_GT(server_->num_keys_given(), num_given_before);
  EXPECT_THAT(store->list(""), ElementsAre("step-0", "step-1"));
}

TEST_F(S3StoreTest, AnAgentOfPodIdentityThatGivesNoKeysIsNamed) {
  use_no_access_key();
  ::setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", server_->credentials_uri(60).c_str(), 1);
  ::setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "/dev/null", 1);
  EXPECT_THAT([] { open(); },
              ThrowsMessage<IoError>(AllOf(HasSubstr("no credentials from EKS Pod Identity at"),
                                           HasSubstr(server_->credentials_uri(60)), HasSubstr("/dev/null"))));
}

TEST_F(S3StoreTest, ABusyServerIsAskedAgainBeforeThePutFails) {
  const auto reader = open();
  use_access_key("busy");
  open()->put("key", as_bytes("value"));
  use_access_key("somebody");
  EXPECT_EQ(get_text(*reader, "key"), "value");
}

TEST_F(S3StoreTest, AnUploadThatFailsInTheMiddleIsNeverSeen) {
  const auto reader = open();
  reader->put("key", as_bytes("old"));
  for (const char* key : {"broken", "deaf"}) {  // the server ends the upload; the server cannot be told
    use_access_key(key);
    testing::internal::CaptureStderr();
    EXPECT_THAT([&] { open()->put("key", as_bytes(large_value(25 * kMiB))); },
                ThrowsMessage<IoError>(HasSubstr("cannot write s3://bucket/" + test_name() + "/key")));
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_EQ(log.find("an unfinished upload") != log.npos, std::string(key) == "deaf") << log;
    use_access_key("somebody");
    EXPECT_EQ(get_text(*reader, "key"), "old") << key;
    EXPECT_THAT(reader->list(""), ElementsAre("key"));
  }
}

TEST_F(S3StoreTest, AServerThatDiesInMidUploadAndComesBackGetsTheWholeValue) {
  S3Server dying({"--part", "2", "--fate", "die"});
  const auto store = open_retrying_store(dying.location("runs"));
  const std::string value = large_value(25 * kMiB);
  std::thread writer([&] { store->put("key", as_bytes(value)); });
  dying.wait();
  std::this_thread::sleep_for(300ms);
  const S3Server successor({}, dying.port());
  writer.join();
  EXPECT_TRUE(get_text(*store, "key") == value);
}

TEST_F(S3StoreTest, ACertificateThatNobodySignedIsNotAccepted) {
  const S3Server server({"--tls"});
  EXPECT_THAT(
      [&] { open_store(fmt::format("s3://bucket/runs?endpoint_override=127.0.0.1:{}", server.port())); },
      ThrowsMessage<PermanentIoError>(AllOf(HasSubstr("certificate"), HasSubstr("SSL_CERT_FILE"))));
}

TEST_F(S3StoreTest, ALocationThatCannotBeIsRefused) {
  const auto open_throws = [](const std::string& location, const char* words) {
    EXPECT_THAT([&] { open_store(location); }, ThrowsMessage<ConfigError>(HasSubstr(words))) << location;
  };
  open_throws("s3://AKIA:secret@bucket/runs", "the location of s3://bucket holds credentials");
  open_throws("s3:///runs", "names no bucket");
  open_throws("s3://bucket/runs?colour=red", "colour");
  open_throws("s3://bucket/a b", "no URI");
}

}  // namespace
}  // namespace lockstep::storage
