#include <gmock/gmock.h>

#include "lockstep/base/error.h"
#include "lockstep/storage/arrow_library.h"
#include "tests/base/temporary_folder.h"

namespace lockstep::storage {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(OpenStore, ALocationOfNoKnownKindIsRefusedInOneLine) {
  EXPECT_THAT([] { open_store("ftp://host/runs"); },
              ThrowsMessage<ConfigError>(AllOf(HasSubstr("ftp://"), HasSubstr("s3://bucket/prefix"))));
  EXPECT_THAT([] { open_store(""); }, ThrowsMessage<ConfigError>(HasSubstr("the location is empty")));
}

TEST(ArrowLibrary, OneThatDoesNotLoadIsNamedWithTheWayOut) {
  const TemporaryFolder folder;
  const auto is_refused = [](const std::string& library, const char* why) {
    EXPECT_THAT([&] { internal::load_arrow(library); },
                ThrowsMessage<ConfigError>(
                    AllOf(HasSubstr(library), HasSubstr(why), HasSubstr("give the path of a folder"))));
  };
  is_refused(folder / "absent.so", "No such file");
  std::ofstream(folder / "text.so") << "no library, but long enough to be one: " << std::string(100, ' ');
  is_refused(folder / "text.so", "invalid ELF header");
}

}  // namespace
}  // namespace lockstep::storage
