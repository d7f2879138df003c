// A real registry that takes tokens, and a server that gives them.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "lockstep/base/split.h"
#include "lockstep/cluster/image/base64.h"
#include "lockstep/cluster/image/resolve_image.h"
#include "registry_server.h"
#include "scripted_server.h"
#include "tests/cluster/variable.h"

namespace lockstep::cluster {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

// A key and a certificate that it signed itself, for 127.0.0.1.
class Identity {
 public:
  Identity() {
    ProcessRunner runner;
    run_or_throw(runner, {.argv = {"openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                                   "-subj", "/CN=tests", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                                   key(), "-out", certificate()},
                          .env = {},
                          .input = ""});
  }
  std::string key() const { return folder_ / "key.pem"; }
  std::string certificate() const { return folder_ / "certificate.pem"; }
  // The certificate's own bytes, in Base64.
  std::string der() const {
    std::string text;
    for (const std::string& line : split(read_file(certificate()), '\n'))
      text += line.starts_with("-----") ? "" : line;
    return text;
  }
  std::string signature_of(const std::string& text) const {
    ProcessRunner runner;
    return run_or_throw(runner,
                        {.argv = {"openssl", "dgst", "-sha256", "-sign", key()}, .env = {}, .input = text});
  }

 private:
  TemporaryFolder folder_;
};

std::string base64_url(const std::string& bytes) {
  std::string text = base64_encoded(bytes);
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text.substr(0, text.find('='));
}

// For pulling from train/ray (JSON Web Token, RFC 7519).
std::string token_of(const Identity& identity) {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  const Json header = {{"typ", "JWT"}, {"alg", "RS256"}, {"x5c", Json::array({identity.der()})}};
  const Json access = {{"type", "repository"}, {"name", "train/ray"}, {"actions", Json::array({"pull"})}};
  const Json claims = {
      {"iss", "tests"},  {"sub", ""},       {"aud", "registry"}, {"exp", now + 300},
      {"nbf", now - 60}, {"iat", now - 60}, {"jti", "1"},        {"access", Json::array({access})}};
  const std::string text = base64_url(header.dump()) + "." + base64_url(claims.dump());
  return text + "." + base64_url(identity.signature_of(text));
}

class TokenFlow : public testing::Test {
 protected:
  TokenFlow() : tokens_([this](const std::string& request) { return answer(request); }) {
    RegistryServer(folder_.path()).push({}, "v1.0");
    registry_.emplace(folder_.path(), "auth: {token: {realm: \"http://" + tokens_.address() +
                                          "/token\", service: registry, issuer: tests, rootcertbundle: " +
                                          identity_.certificate() + "}}\n");
  }

  std::string answer(const std::string& request) const {
    if (!refusal_.empty()) return refusal_;
    const bool is_known = login_.empty() || request.find("Authorization: Basic " + login_) != request.npos;
    return is_known ? http_answer(200, Json{{"token", token_of(identity_)}}.dump()) : http_answer(401, "{}");
  }
  ResolvedImage resolve(std::optional<RegistryLogin> login = std::nullopt) {
    const ImageReference image = registry_->image("v1.0");
    RegistryClient client(image.origin(), image, std::move(login));
    return resolve_image(image, "linux/amd64", client);
  }

  TemporaryFolder folder_;
  Identity identity_;
  std::string login_;    // who may have a token; empty: everybody
  std::string refusal_;  // answered instead of a token
  ScriptedServer tokens_;
  std::optional<RegistryServer> registry_;
};

TEST_F(TokenFlow, ATokenIsFetchedWhereTheRegistrySaysAndServesForAllThatFollows) {
  EXPECT_NO_THROW(resolve());
  ASSERT_EQ(tokens_.requests().size(), 1);
  EXPECT_THAT(tokens_.requests()[0],
              AllOf(HasSubstr("GET /token?service=registry&scope=repository%3Atrain%2Fray%3Apull HTTP"),
                    Not(HasSubstr("Authorization"))));
}

TEST_F(TokenFlow, TheTokensServerGetsTheLogin) {
  login_ = base64_encoded("AWS:secret");
  EXPECT_NO_THROW(resolve(RegistryLogin{"AWS", "secret", "x"}));
  EXPECT_THAT(
      [&] {
        resolve(RegistryLogin{"AWS", "guess", "some file"});
      },
      ThrowsMessage<ConfigError>(AllOf(HasSubstr("gives no token for"),
                                       HasSubstr("to the login from some file"), Not(HasSubstr("guess")))));
  EXPECT_THAT([&] { resolve(); }, ThrowsMessage<ConfigError>(HasSubstr("without a login")));
}

TEST_F(TokenFlow, ATokenOfAnotherKeyIsRefusedByTheRegistry) {
  refusal_ = http_answer(200, Json{{"token", token_of(Identity())}}.dump());
  EXPECT_THAT([&] { resolve(); },
              ThrowsMessage<ConfigError>(HasSubstr("/train/ray refuses tag v1.0 without a login")));
}

TEST_F(TokenFlow, AnAnswerWithoutATokenIsSaid) {
  for (const std::string& body : {std::string("{}"), std::string("[]"), std::string(R"({"token": 1})")}) {
    refusal_ = http_answer(200, body);
    EXPECT_THAT([&] { resolve(); }, ThrowsMessage<CommandError>(HasSubstr("without a token"))) << body;
  }
}

TEST(RegistryTls, TheCertificateMustBeOneThatThisMachineTrusts) {
  const TemporaryFolder folder;
  const Identity identity;
  RegistryServer(folder.path()).push({}, "v1.0");
  const RegistryServer server(
      folder.path(), "",
      "  tls: {certificate: " + identity.certificate() + ", key: " + identity.key() + "}\n");
  const ImageReference image = server.image("v1.0");
  const auto resolve = [&] {
    RegistryClient client("https://" + server.address(), image, std::nullopt);
    return resolve_image(image, "linux/amd64", client);
  };
  EXPECT_THAT(resolve, ThrowsMessage<NoAnswerError>(HasSubstr("TLS: ")));
  const Variable trusted("SSL_CERT_FILE", identity.certificate().c_str());
  EXPECT_NO_THROW(resolve());
}

}  // namespace
}  // namespace lockstep::cluster
