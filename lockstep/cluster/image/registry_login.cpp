#include "lockstep/cluster/image/registry_login.h"

#include <fmt/format.h>

#include <fstream>

#include "lockstep/base/env_var.h"
#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/cluster/image/base64.h"

namespace lockstep::cluster {
namespace {

std::string config_path() {
  if (const auto folder = env_var("DOCKER_CONFIG"); folder && !folder->empty())
    return *folder + "/config.json";
  return env_var("HOME").value_or("") + "/.docker/config.json";
}

std::string text_at(const Json& object, const std::string& key) {
  return object.is_object() && object.contains(key) && object.at(key).is_string()
             ? object.at(key).get<std::string>()
             : "";
}

// As `docker login` spells it; Docker Hub keeps the name that it had first.
std::string key_of(const std::string& registry) {
  return registry == "docker.io" ? "https://index.docker.io/v1/" : registry;
}

std::optional<RegistryLogin> from_entry(const Json& entry, const std::string& path, const std::string& key) {
  const std::string encoded = text_at(entry, "auth");
  if (encoded.empty()) return std::nullopt;  // the password is with a helper
  const auto decoded = base64_decoded(encoded);
  const size_t colon = decoded ? decoded->find(':') : std::string::npos;
  if (colon == std::string::npos) {
    throw ConfigError(fmt::format(
        "image: {}: auths[\"{}\"].auth is not USER:PASSWORD in Base64: log in anew with docker login {}",
        path, key, key));
  }
  return RegistryLogin{decoded->substr(0, colon), decoded->substr(colon + 1), path};
}

std::optional<RegistryLogin> from_helper(const std::string& helper, const std::string& key,
                                         CommandRunner& runner) {
  const std::string program = "docker-credential-" + helper;
  const CommandResult result = runner.run({.argv = {program, "get"}, .env = {}, .input = key});
  // The protocol has no code for it, only these words.
  if (result.exit_code != 0 && result.out.find("credentials not found") != std::string::npos)
    return std::nullopt;
  const Json answer = Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
  const std::string user = text_at(answer, "Username"), password = text_at(answer, "Secret");
  if (result.exit_code != 0 || result.timed_out || password.empty()) {
    throw CommandError(fmt::format("image: {} get gave no credentials for {} (exit code {}){}", program, key,
                                   result.exit_code, result.timed_out ? ": it took too long" : ""));
  }
  return RegistryLogin{user, password, program};
}

}  // namespace

std::optional<RegistryLogin> registry_login(const std::string& registry, CommandRunner& runner) {
  const std::string path = config_path(), key = key_of(registry);
  std::ifstream file(path);
  if (!file) return std::nullopt;
  const Json config = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!config.is_object())
    throw ConfigError(fmt::format("image: {}: no JSON object, as docker login writes it", path));
  const std::string helper = text_at(config.value("credHelpers", Json()), key);
  if (!helper.empty()) return from_helper(helper, key, runner);
  const Json auths = config.value("auths", Json());
  if (auths.is_object() && auths.contains(key)) {
    if (auto login = from_entry(auths.at(key), path, key)) return login;
  }
  const std::string store = text_at(config, "credsStore");
  return store.empty() ? std::nullopt : from_helper(store, key, runner);
}

}  // namespace lockstep::cluster
