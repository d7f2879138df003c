#include "lockstep/cluster/ray_token.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/base/temporary_folder.h"
#include "lockstep/cluster/ray_version.h"
#include "tests/cluster/variable.h"

namespace lockstep::cluster {
namespace {

using testing::HasSubstr;
using testing::Optional;
using testing::ThrowsMessage;

class Token : public testing::Test {
 protected:
  Token() {
    std::filesystem::create_directory(folder_ / ".ray");
    std::ofstream(folder_ / ".ray/auth_token") << " at home \n";
    std::ofstream(folder_ / "named") << "in a file\nand more\n";
  }

  TemporaryFolder folder_;
  Variable home_{"HOME", folder_.path().c_str()};
  Variable mode_{"RAY_AUTH_MODE", "token"};
  Variable token_{"RAY_AUTH_TOKEN", nullptr};
  Variable path_{"RAY_AUTH_TOKEN_PATH", nullptr};
};

TEST_F(Token, IsNotShownUnlessTheModeAsksForIt) {
  const Variable disabled("RAY_AUTH_MODE", nullptr);
  EXPECT_FALSE(ray_token());
}

TEST_F(Token, TheVariableComesBeforeTheFileThatIsNamedAndThatBeforeHome) {
  EXPECT_EQ(ray_token()->value, "at home");
  const Variable path("RAY_AUTH_TOKEN_PATH", (folder_ / "named").c_str());
  EXPECT_EQ(ray_token()->value, "in a file");
  const Variable token("RAY_AUTH_TOKEN", "given");
  EXPECT_EQ(ray_token()->value, "given");
  EXPECT_EQ(ray_token()->source, "RAY_AUTH_TOKEN");
}

TEST_F(Token, NoneWhereOneIsWantedIsRefused) {
  const Variable path("RAY_AUTH_TOKEN_PATH", (folder_ / "nowhere").c_str());
  EXPECT_THAT([] { ray_token(); }, ThrowsMessage<ConfigError>(HasSubstr("nowhere, which cannot be read")));
  const Variable no_path("RAY_AUTH_TOKEN_PATH", nullptr);
  std::filesystem::remove_all(folder_ / ".ray");
  EXPECT_THAT([] { ray_token(); },
              ThrowsMessage<ConfigError>(HasSubstr("there is no token in RAY_AUTH_TOKEN")));
}

TEST(RayVersion, TheTestedOneIsTakenOthersAreWarnedOfAndOldOnesRefused) {
  EXPECT_FALSE(ray_version_warning("2.58.3"));
  EXPECT_THAT(ray_version_warning("2.60.0"), Optional(HasSubstr("runs Ray 2.60.0")));
  EXPECT_THAT(ray_version_warning("2.51.0.dev0"), Optional(HasSubstr("tested with Ray 2.58.x")));
  for (const char* version : {"2.50.1", "3.0.0", "1.13.0", "nightly"}) {
    EXPECT_THAT([&] { ray_version_warning(version); },
                ThrowsMessage<ConfigError>(HasSubstr("use an image with Ray")))
        << version;
  }
}

}  // namespace
}  // namespace lockstep::cluster
