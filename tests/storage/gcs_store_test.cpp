// The store of gs:// locations against a server.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "lockstep/base/io_error.h"
#include "lockstep/storage/object_store.h"
#include "tests/storage/get_text.h"
#include "tests/storage/object_server.h"

namespace lockstep::storage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(GcsStore, DoesWhatStoresDo) {
  if (!ObjectServer::is_installed()) GTEST_SKIP() << "no server here: scripts/setup --s3 installs it";
  const ObjectServer server("gcs_server.py", {});
  const std::string options = fmt::format("?endpoint_override=127.0.0.1:{}&scheme=http", server.port());
  const auto store = open_store("gs://anonymous@bucket/runs" + options);

  store->put("step-1/a", as_bytes("old"));
  store->put("step-1/a", as_bytes("value"));
  store->put("empty", {});
  const std::string large(70 << 20, 'x');
  store->put("large", as_bytes(large));
  EXPECT_EQ(get_text(*store, "step-1/a"), "value");
  EXPECT_EQ(get_text(*store, "step-1/a", {.offset = 3, .length = 9}), "ue");
  EXPECT_EQ(get_text(*store, "empty"), "");
  EXPECT_EQ(get_text(*store, "absent"), std::nullopt);
  EXPECT_TRUE(get_text(*store, "large") == large);
  EXPECT_THAT(store->list(""), ElementsAre("empty", "large", "step-1/a"));
  EXPECT_THAT(store->list("step"), ElementsAre("step-1/a"));

  store->remove("step-1/a");
  store->remove("step-1/a");
  EXPECT_THAT(store->list(""), ElementsAre("empty", "large"));
  EXPECT_THROW(store->append("metrics", as_bytes("x")), PermanentIoError);
  EXPECT_THAT([&] { open_store("gs://anonymous@nobody/runs" + options); },
              ThrowsMessage<PermanentIoError>(HasSubstr("cannot open gs://nobody: there is no such bucket")));
}

}  // namespace
}  // namespace lockstep::storage
