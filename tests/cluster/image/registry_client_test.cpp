// Against a real registry, and against servers that answer wrongly.
#include "lockstep/cluster/image/registry_client.h"

#include <gmock/gmock.h>

#include <fstream>

#include "lockstep/cluster/image/resolve_image.h"
#include "registry_server.h"
#include "scripted_server.h"

namespace lockstep::cluster {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

ResolvedImage resolve(const ImageReference& image, const std::string& platform = "linux/amd64",
                      std::optional<RegistryLogin> login = std::nullopt) {
  RegistryClient registry(image.origin(), image, std::move(login));
  return resolve_image(image, platform, registry);
}

ImageReference image_at(const ScriptedServer& server) {
  return ImageReference::parse(server.address() + "/train/ray:v1.0");
}

TEST(RegistryClient, ATagOfOneImageIsItsDigest) {
  const TemporaryFolder folder;
  RegistryServer server(folder.path());
  const PushedImage pushed = server.push({.environment = {"CUDA_VERSION=13.0.2"}}, "v1.0");
  const ResolvedImage found = resolve(server.image("v1.0"));
  EXPECT_FALSE(found.is_index);
  EXPECT_EQ(found.image.digest, pushed.manifest);
  EXPECT_EQ(found.image.tag, "v1.0");
  EXPECT_EQ(found.manifest, pushed.manifest);
  EXPECT_EQ(found.config, pushed.config);
  EXPECT_EQ(found.created, "2026-01-02T03:04:05Z");
  EXPECT_EQ(found.components.at(0).version, "13.0.2");
}

TEST(RegistryClient, ATagOfSeveralPlatformsIsTheIndexAndTheComponentsAreThePlatforms) {
  const TemporaryFolder folder;
  RegistryServer server(folder.path());
  const PushedImage amd = server.push({.environment = {"CUDA_VERSION=13.0.2"}});
  const PushedImage arm = server.push({.architecture = "arm64", .environment = {"CUDA_VERSION=12.9.1"}});
  const std::string index = server.push_index({{"linux/arm64", arm}, {"linux/amd64", amd}}, "v1.0");
  const ResolvedImage found = resolve(server.image("v1.0"));
  EXPECT_TRUE(found.is_index);
  EXPECT_EQ(found.image.digest, index);
  EXPECT_EQ(found.manifest, amd.manifest);
  EXPECT_EQ(found.components.at(0).version, "13.0.2");
  EXPECT_EQ(resolve(server.image(index), "linux/arm64").manifest, arm.manifest);
  EXPECT_THAT([&] { resolve(server.image("v1.0"), "linux/s390x"); },
              ThrowsMessage<ConfigError>(
                  HasSubstr("has no image for linux/s390x, but for linux/arm64, linux/amd64")));
}

TEST(RegistryClient, AnImageForAnotherPlatformIsRefused) {
  const TemporaryFolder folder;
  RegistryServer server(folder.path());
  server.push({.architecture = "arm64"}, "v1.0");
  EXPECT_THAT([&] { resolve(server.image("v1.0")); },
              ThrowsMessage<ConfigError>(HasSubstr("is for linux/arm64, not for linux/amd64")));
}

TEST(RegistryClient, WhatIsNotThereIsNamed) {
  const TemporaryFolder folder;
  RegistryServer server(folder.path());
  server.push({}, "v1.0");
  const std::string digest = "sha256:" + std::string(64, 'd');
  EXPECT_THAT([&] { resolve(server.image("v9")); },
              ThrowsMessage<ConfigError>(
                  AllOf(HasSubstr("/train/ray has no tag v9"), HasSubstr("MANIFEST_UNKNOWN"))));
  EXPECT_THAT([&] { resolve(server.image(digest)); },
              ThrowsMessage<ConfigError>(HasSubstr("has no digest " + digest)));
  EXPECT_THAT([&] { resolve(ImageReference::parse(server.address() + "/nobody:v1")); },
              ThrowsMessage<ConfigError>(HasSubstr("/nobody has no tag v1")));
}

TEST(RegistryClient, ARegistryThatIsDownIsNamed) {
  std::string address;
  {
    const ScriptedServer gone([](const std::string&) { return ""; });
    address = gone.address();
  }
  EXPECT_THAT([&] { resolve(ImageReference::parse(address + "/ray:v1")); },
              ThrowsMessage<NoAnswerError>(
                  AllOf(HasSubstr("image: no answer from http://" + address), HasSubstr("no connection"))));
}

TEST(RegistryClient, DamagedContentIsNotTaken) {
  const TemporaryFolder folder;
  RegistryServer server(folder.path());
  const PushedImage pushed = server.push({}, "v1.0");
  const std::string manifest = RegistryServer::blob_file(folder.path(), pushed.manifest);
  const std::string whole = read_file(manifest);
  std::ofstream(RegistryServer::blob_file(folder.path(), pushed.config), std::ios::app) << " ";
  EXPECT_THAT(
      [&] { resolve(server.image("v1.0")); },
      ThrowsMessage<CommandError>(AllOf(HasSubstr("for blob " + pushed.config), HasSubstr("not taken"))));
  std::ofstream(manifest, std::ios::app) << " ";
  for (const std::string& reference : {std::string("v1.0"), pushed.manifest}) {
    EXPECT_THAT(
        [&] { resolve(server.image(reference)); },
        ThrowsMessage<CommandError>(AllOf(HasSubstr(", not " + pushed.manifest), HasSubstr("not taken"))))
        << reference;
  }
}

TEST(RegistryClient, AnAnswerThatBreaksOffIsNoAnswer) {
  ScriptedServer server(
      [](const std::string&) { return "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"schemaVersion\""; });
  EXPECT_THAT([&] { resolve(image_at(server)); },
              ThrowsMessage<NoAnswerError>(HasSubstr("did not answer, or not to the end")));
}

TEST(RegistryClient, AnAnswerWithoutAnEndIsBrokenOff) {
  ScriptedServer server([](const std::string&) { return http_answer(200, std::string(5 << 20, ' ')); });
  EXPECT_THAT([&] { resolve(image_at(server)); },
              ThrowsMessage<NoAnswerError>(HasSubstr("the answer is too long")));
}

TEST(RegistryClient, OtherAnswersAreToldInTheRegistrysWords) {
  std::string answer = http_answer(500, R"({"errors": [{"code": "UNKNOWN", "message": "disk on fire"}]})");
  ScriptedServer server([&](const std::string&) { return answer; });
  EXPECT_THAT([&] { resolve(image_at(server)); },
              ThrowsMessage<CommandError>(HasSubstr("status 500, UNKNOWN, disk on fire")));
  answer = http_answer(429, "slow down");
  EXPECT_THAT([&] { resolve(image_at(server)); }, ThrowsMessage<CommandError>(HasSubstr("status 429")));
  for (const char* body : {"<html>", "[]", "{\"mediaType\": 1}", R"({"schemaVersion": 1})"}) {
    answer = http_answer(200, body);
    EXPECT_THAT([&] { resolve(image_at(server)); },
                ThrowsMessage<CommandError>(HasSubstr("is no manifest of an image")))
        << body;
  }
}

TEST(RegistryClient, RedirectionsEnd) {
  std::string location = "/again";
  ScriptedServer server(
      [&](const std::string&) { return http_answer(307, "", "Location: " + location + "\r\n"); });
  EXPECT_THAT([&] { resolve(image_at(server)); },
              ThrowsMessage<CommandError>(HasSubstr("redirects more than 5 times")));
  location = "nowhere";
  EXPECT_THAT([&] { resolve(image_at(server)); },
              ThrowsMessage<CommandError>(HasSubstr("redirects to \"nowhere\", which is no address")));
}

// As registries do that keep blobs in an object store.
TEST(RegistryClient, ARedirectedBlobIsFetchedThereWithoutTheLogin) {
  const TemporaryFolder folder;
  PushedImage pushed = RegistryServer(folder.path()).push({}, "v1.0");
  ScriptedServer store([&](const std::string& request) {
    const size_t from = request.find(' ') + 1;
    return http_answer(200, read_file(folder / request.substr(from, request.find(' ', from) - from)));
  });
  // Bcrypt of "pass".
  std::ofstream(folder / "htpasswd") << "user:$2b$05$LOCKSTEPLOCKSTEPLOCKSus2BdHhO1QtodXPlGYkNuKQCwEVO3zDa\n";
  RegistryServer server(folder.path(),
                        "middleware: {storage: [{name: redirect, options: {baseurl: \"http://" +
                            store.address() +
                            "/\"}}]}\n"
                            "auth: {htpasswd: {realm: tests, path: " +
                            folder / "htpasswd" + "}}\n");
  EXPECT_EQ(resolve(server.image("v1.0"), "linux/amd64", RegistryLogin{"user", "pass", "x"}).config,
            pushed.config);
  ASSERT_EQ(store.requests().size(), 1);
  EXPECT_THAT(store.requests()[0], AllOf(HasSubstr(pushed.config.substr(7)), Not(HasSubstr("uthorization"))));
}

TEST(RegistryClient, TheLoginIsShownOnlyWhenItIsAskedFor) {
  const TemporaryFolder folder;
  RegistryServer(folder.path()).push({}, "v1.0");
  std::ofstream(folder / "htpasswd") << "user:$2b$05$LOCKSTEPLOCKSTEPLOCKSus2BdHhO1QtodXPlGYkNuKQCwEVO3zDa\n";
  RegistryServer server(folder.path(),
                        "auth: {htpasswd: {realm: tests, path: " + folder / "htpasswd" + "}}\n");
  EXPECT_NO_THROW(resolve(server.image("v1.0"), "linux/amd64", RegistryLogin{"user", "pass", "x"}));
  EXPECT_THAT([&] { resolve(server.image("v1.0")); },
              ThrowsMessage<ConfigError>(
                  AllOf(HasSubstr("asks for a login"), HasSubstr("docker login " + server.address()))));
  EXPECT_THAT(
      [&] {
        resolve(server.image("v1.0"), "linux/amd64", RegistryLogin{"user", "guess", "some file"});
      },
      ThrowsMessage<ConfigError>(
          AllOf(HasSubstr("refuses tag v1.0 to the login from some file"), Not(HasSubstr("guess")))));
}

}  // namespace
}  // namespace lockstep::cluster
