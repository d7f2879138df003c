#include "lockstep/cluster/image/registry_login.h"

#include <gmock/gmock.h>

#include <fstream>

#include "lockstep/base/error.h"
#include "tests/base/temporary_folder.h"
#include "tests/cluster/variable.h"

namespace lockstep::cluster {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

class Recorder : public CommandRunner {
 public:
  CommandResult run(const Command& command) override {
    commands.push_back(command);
    return result;
  }
  std::vector<Command> commands;
  CommandResult result;
};

class Login : public testing::Test {
 protected:
  Login() : docker_("DOCKER_CONFIG", folder_.path().c_str()) {}

  std::optional<RegistryLogin> login(const std::string& config, const std::string& registry = "r.example") {
    std::ofstream(folder_ / "config.json") << config;
    return registry_login(registry, runner_);
  }

  TemporaryFolder folder_;
  Variable docker_;
  Recorder runner_;
};

TEST_F(Login, IsWhatDockerLoginWrote) {
  const auto found = login(R"({"auths": {"r.example": {"auth": "QVdTOnNlOmNyZXQ="}}})");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->user, "AWS");
  EXPECT_EQ(found->password, "se:cret");
  EXPECT_EQ(found->source, folder_ / "config.json");
  EXPECT_FALSE(login(R"({"auths": {"r.example": {"auth": "QVdTOnNlOmNyZXQ="}}})", "other.example"));
  EXPECT_EQ(login(R"({"auths": {"https://index.docker.io/v1/": {"auth": "YTpi"}}})", "docker.io")->user, "a");
  EXPECT_THAT(runner_.commands, testing::IsEmpty());
}

TEST_F(Login, NoFileIsNoLogin) { EXPECT_FALSE(registry_login("r.example", runner_)); }

TEST_F(Login, AFileThatIsDamagedIsSaidWithoutItsSecrets) {
  EXPECT_THAT([&] { login("nonsense"); },
              ThrowsMessage<ConfigError>(HasSubstr("config.json: no JSON object")));
  EXPECT_THAT([&] { login(R"({"auths": {"r.example": {"auth": "hunter2"}}})"); },
              ThrowsMessage<ConfigError>(
                  AllOf(HasSubstr("is not USER:PASSWORD in Base64"), Not(HasSubstr("hunter2")))));
}

TEST_F(Login, AHelperGetsTheRegistryOnItsStandardInput) {
  runner_.result.out = R"({"ServerURL": "r.example", "Username": "AWS", "Secret": "secret"})";
  const auto found = login(R"({"credHelpers": {"r.example": "ecr-login"}, "credsStore": "desktop"})");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->password, "secret");
  ASSERT_EQ(runner_.commands.size(), 1);
  EXPECT_THAT(runner_.commands[0].argv, ElementsAre("docker-credential-ecr-login", "get"));
  EXPECT_EQ(runner_.commands[0].input, "r.example");
  login(R"({"auths": {"r.example": {}}, "credsStore": "desktop"})");
  EXPECT_THAT(runner_.commands.at(1).argv, ElementsAre("docker-credential-desktop", "get"));
}

TEST_F(Login, AHelperThatKnowsNothingIsNoLoginAndOneThatFailsIsAnError) {
  runner_.result = {.exit_code = 1, .out = "credentials not found in native keychain\n", .err = ""};
  EXPECT_FALSE(login(R"({"credsStore": "desktop"})"));
  runner_.result = {.exit_code = 1, .out = "", .err = "expired"};
  EXPECT_THAT([&] { login(R"({"credsStore": "desktop"})"); },
              ThrowsMessage<CommandError>(
                  HasSubstr("docker-credential-desktop get gave no credentials for r.example")));
  runner_.result = {.exit_code = 0, .out = "hello", .err = ""};
  EXPECT_THROW(login(R"({"credsStore": "desktop"})"), CommandError);
}

}  // namespace
}  // namespace lockstep::cluster
