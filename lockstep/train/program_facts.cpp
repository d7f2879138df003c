#include "lockstep/train/program_facts.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <spdlog/version.h>
#include <torch/version.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "lockstep/base/build_info.h"
#include "lockstep/base/sha256.h"

namespace lockstep::train {
namespace {

std::string own_library() {
  Dl_info info{};
  return dladdr(reinterpret_cast<const void*>(&own_library), &info) != 0 && info.dli_fname ? info.dli_fname
                                                                                           : "";
}

}  // namespace

ProgramFacts program_facts() {
  ProgramFacts facts;
  facts.commit = kCommit;
  for (const std::string& file : {std::string("/proc/self/exe"), own_library()}) {
    if (file.empty()) continue;
    const auto path = std::filesystem::canonical(file);
    facts.binary_sha256[path.filename()] = sha256_file(path);
  }
  facts.libraries = {
      {"compiler", fmt::format("g++ {}", __VERSION__)},
      {"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
      {"json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                           NLOHMANN_JSON_VERSION_PATCH)},
      {"lockstep", kVersion},
      {"openssl", OpenSSL_version(OPENSSL_VERSION_STRING)},
      {"spdlog", fmt::format("{}.{}.{}", SPDLOG_VER_MAJOR, SPDLOG_VER_MINOR, SPDLOG_VER_PATCH)},
      {"torch", TORCH_VERSION},
  };
  return facts;
}

}  // namespace lockstep::train
