#include "lockstep/cluster/ray_client.h"

#include <gmock/gmock.h>

#include "lockstep/cluster/ray_address.h"
#include "tests/cluster/ray_server.h"
#include "tests/cluster/variable.h"

namespace lockstep::cluster {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

RayClient client_of(const RayServer& server, std::optional<RayToken> token = std::nullopt) {
  return {server.address(), std::move(token)};
}

TEST(RayClient, TellsTheClustersVersionAndNodes) {
  RayServer server;
  server.with([](FakeRay& ray) {
    ray.nodes = {node_json("head", "10.0.0.1", true, {{"memory", 1e9}}),
                 node_json("10.0.0.2", "10.0.0.2", false, {{"CPU", 4.0}, {"GPU", 2.0}}, /*is_alive=*/false)};
  });
  RayClient client = client_of(server);
  EXPECT_EQ(client.version(), "2.58.0");
  const auto nodes = client.nodes();
  ASSERT_EQ(nodes.size(), 2);
  EXPECT_TRUE(nodes[0].is_head && nodes[0].is_alive);
  EXPECT_EQ(nodes[0].label(), "head (10.0.0.1)");
  EXPECT_FALSE(nodes[1].is_head || nodes[1].is_alive);
  EXPECT_EQ(nodes[1].label(), "10.0.0.2");
  EXPECT_EQ(nodes[1].amount("GPU"), 2);
  EXPECT_EQ(nodes[1].amount("TPU"), 0);
}

TEST(RayClient, NobodyThereIsSaidWithTheAddress) {
  int port = 0;
  {
    const RayServer gone;
    port = gone.port();
  }
  const std::string address = "http://127.0.0.1:" + std::to_string(port);
  EXPECT_THAT([&] { RayClient(address, std::nullopt).version(); },
              ThrowsMessage<NoAnswerError>(AllOf(HasSubstr(address), HasSubstr("no connection"))));
}

TEST(RayClient, AnotherServerThanRaysIsSaid) {
  RayServer server;
  server.with([](FakeRay& ray) { ray.failing_status = 404; });
  EXPECT_THAT([&] { client_of(server).version(); },
              ThrowsMessage<ConfigError>(HasSubstr("is no Ray dashboard")));
}

TEST(RayClient, AClusterWithATokenTakesOnlyItsOwn) {
  RayServer server;
  server.with([](FakeRay& ray) { ray.token = "open sesame"; });
  EXPECT_THAT(
      [&] { client_of(server).version(); },
      ThrowsMessage<ConfigError>(AllOf(HasSubstr("asks for a token"), HasSubstr("RAY_AUTH_MODE=token"))));
  EXPECT_THAT(
      [&] {
        client_of(server, RayToken{"guess", "RAY_AUTH_TOKEN"}).version();
      },
      ThrowsMessage<ConfigError>(
          AllOf(HasSubstr("refused the token from RAY_AUTH_TOKEN"), Not(HasSubstr("guess")))));
  EXPECT_EQ(client_of(server, RayToken{"open sesame", "RAY_AUTH_TOKEN"}).version(), "2.58.0");
}

TEST(RayClient, AnErrorIsToldByTheLastLineOfItsTraceback) {
  RayServer server;
  server.with([](FakeRay& ray) {
    ray.failing_status = 500;
    ray.failing_body = "Traceback (most recent call last):\n  File \"a.py\"\nRuntimeError: no agent\n.";
  });
  EXPECT_THAT([&] { client_of(server).nodes(); },
              ThrowsMessage<CommandError>(
                  AllOf(HasSubstr("status 500: RuntimeError: no agent"), Not(HasSubstr("Traceback")))));
}

TEST(RayClient, AnAnswerOfAnotherShapeIsNoCrash) {
  RayServer server;
  server.with([](FakeRay& ray) { ray.nodes = Json::array({Json::object({{"node_name", 3}})}); });
  EXPECT_THAT([&] { client_of(server).nodes(); }, ThrowsMessage<CommandError>(HasSubstr("/api/v0/nodes")));
}

TEST(RayClient, APackageArrivesByteForByteAndIsThereAfterwards) {
  RayServer server;
  RayClient client = client_of(server);
  const std::string bytes("PK\0\r\n\xff", 6);
  EXPECT_FALSE(client.has_package("_ray_pkg_1.zip"));
  client.upload_package("_ray_pkg_1.zip", bytes);
  EXPECT_TRUE(client.has_package("_ray_pkg_1.zip"));
  server.with([&](FakeRay& ray) { EXPECT_EQ(ray.packages.at("_ray_pkg_1.zip"), bytes); });
}

TEST(RayClient, SubmitsAndFindsTheJobAgain) {
  RayServer server;
  RayClient client = client_of(server);
  client.submit(
      {.entrypoint = "true", .id = "first", .runtime_env = {{"working_dir", "gcs://x.zip"}}, .metadata = {}});
  server.with([](FakeRay& ray) {
    EXPECT_EQ(ray.submissions.at(0).at("runtime_env").at("working_dir"), "gcs://x.zip");
    ray.jobs["second"] = job_json("second", "FAILED", 3);
  });
  EXPECT_EQ(client.job("second").exit_code(), 3);
  ASSERT_EQ(client.jobs().size(), 2);  // the driver that was not submitted is not among them
  client.stop("first");
  EXPECT_EQ(client.job("first").status, "STOPPED");
}

TEST(RayClient, AnIdThatIsTakenOrUnknownIsSaid) {
  RayServer server;
  server.with([](FakeRay& ray) { ray.jobs["taken"] = job_json("taken", "RUNNING"); });
  RayClient client = client_of(server);
  EXPECT_THAT(
      [&] { client.submit({.entrypoint = "true", .id = "taken", .runtime_env = {}, .metadata = {}}); },
      ThrowsMessage<ConfigError>(HasSubstr("has a job taken already")));
  EXPECT_THAT([&] { client.job("nobody"); }, ThrowsMessage<ConfigError>(HasSubstr("knows no job nobody")));
  EXPECT_THAT([&] { client.logs("../x"); }, ThrowsMessage<ConfigError>(HasSubstr("\"../x\" is no job's id")));
}

TEST(RayAddress, IsTheOneAskedForOrTheVariablesOrThisMachines) {
  const Variable variable("RAY_ADDRESS", "http://head:8265/");
  EXPECT_EQ(ray_address("https://other:1"), "https://other:1");
  EXPECT_EQ(ray_address("other:8265"), "http://other:8265");
  EXPECT_EQ(ray_address(""), "http://head:8265");
  const Variable in_a_pod("RAY_ADDRESS", "10.0.0.1:6379");
  EXPECT_EQ(ray_address(""), "http://127.0.0.1:8265");
}

TEST(RayAddress, AnAddressOfAnotherKindIsRefused) {
  for (const char* address : {"ray://head:10001", "http://", "http://head:8265/api"}) {
    EXPECT_THAT([&] { ray_address(address); },
                ThrowsMessage<ConfigError>(HasSubstr("no address of a Ray dashboard")))
        << address;
  }
}

}  // namespace
}  // namespace lockstep::cluster
