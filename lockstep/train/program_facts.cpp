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
  // Read through /proc, which gives the program that runs even when its file was replaced since.
  const auto program = std::filesystem::read_symlink("/proc/self/exe").filename();
  facts.binary_sha256[program] = sha256_file("/proc/self/exe");
  const std::filesystem::path library = own_library();
  if (std::filesystem::exists(library)) facts.binary_sha256[library.filename()] = sha256_file(library);
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
