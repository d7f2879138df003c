#include "lockstep/cluster/job_package.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "lockstep/base/byte_size.h"
#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/base/library_folder.h"
#include "lockstep/base/sha256.h"

namespace lockstep::cluster {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFacts = "package.json";  // what deploy/package says of its folder

bool is_package(const fs::path& folder) { return fs::is_regular_file(folder / kFacts); }

std::string torch_version_of(const fs::path& folder) {
  std::ifstream file(folder / kFacts);
  const Json facts = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!facts.is_object() || facts.value("version", Json()) != 1 ||
      !facts.value("torch_version", Json()).is_string())
    throw ConfigError(
        fmt::format("ray: {}: made by another deploy/package than this release's: make it again",
                    (folder / kFacts).string()));
  return facts.at("torch_version").get<std::string>();
}

std::vector<ArchiveFile> files_in(const fs::path& folder) {
  std::vector<ArchiveFile> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const fs::path& path = entry.path();
    const std::string name = path.lexically_relative(folder).generic_string();
    // A job's own files are there when the folder is a package that Ray has unpacked.
    if (!entry.is_regular_file() || path.extension() == ".pyc" || name == "job.json" || name == "recipe.yaml")
      continue;
    files.push_back(
        {.name = name, .path = path.string(), .is_executable = ::access(path.c_str(), X_OK) == 0});
  }
  return files;
}

std::string name_of_program(const std::string& program) {
  if (program.empty()) return "bin/lockstep";
  if (!fs::is_regular_file(program) || ::access(program.c_str(), X_OK) != 0)
    throw ConfigError(fmt::format("ray: --program {}: no program that could be run", program));
  const std::string name = fs::path(program).filename().string();
  if (name == "lockstep")
    throw ConfigError("ray: --program lockstep: a train function's program needs another name");
  return "bin/" + name;
}

std::string job_json(const JobPackageOptions& options, const std::string& program) {
  std::vector<std::string> arguments = {"recipe.yaml"};
  if (options.program.empty()) arguments.insert(arguments.begin(), "train");
  arguments.insert(arguments.end(), options.overrides.begin(), options.overrides.end());
  const Json job = {{"version", 1},
                    {"program", program},
                    {"arguments", arguments},
                    {"recipe", "recipe.yaml"},
                    {"overrides", options.overrides},
                    {"from", options.from},
                    {"torch_version", torch_version_of(options.folder)}};
  return job.dump(2) + "\n";
}

std::string hash_of(const std::vector<ArchiveFile>& files) {
  Sha256 hash;
  for (const ArchiveFile& file : files) {
    const std::string content = file.path.empty() ? sha256_hex(file.text) : sha256_file(file.path);
    hash.update(fmt::format("{}\n{}\n{}\n", file.name, file.is_executable, content));
  }
  return hash.hex().substr(0, 32);
}

}  // namespace

JobPackage make_job_package(const JobPackageOptions& options) {
  const std::string program = name_of_program(options.program);
  JobPackage package;
  package.files = files_in(options.folder);
  if (!options.program.empty()) {
    package.files.push_back({.name = program, .path = options.program, .is_executable = true});
  }
  package.files.push_back({.name = "recipe.yaml", .text = options.recipe});
  package.files.push_back({.name = "job.json", .text = job_json(options, program)});
  std::sort(package.files.begin(), package.files.end(),
            [](const ArchiveFile& a, const ArchiveFile& b) { return a.name < b.name; });
  package.name = fmt::format("_ray_pkg_{}.zip", hash_of(package.files));
  return package;
}

std::string package_bytes(const JobPackage& package) {
  std::string bytes = zip_archive(package.files);
  if (bytes.size() <= kLargestPackage) return bytes;
  std::vector<std::pair<uintmax_t, std::string>> sizes;
  for (const ArchiveFile& file : package.files) {
    sizes.emplace_back(file.path.empty() ? file.text.size() : fs::file_size(file.path), file.name);
  }
  std::sort(sizes.rbegin(), sizes.rend());
  sizes.resize(std::min<size_t>(sizes.size(), 3));
  std::vector<std::string> largest;
  for (const auto& [size, name] : sizes)
    largest.push_back(fmt::format("{} {}", name, format_bytes(static_cast<int64_t>(size))));
  throw ConfigError(
      fmt::format("ray: the job's package is {}, and Ray takes {} at most: strip what is large ({})",
                  format_bytes(static_cast<int64_t>(bytes.size())),
                  format_bytes(static_cast<int64_t>(kLargestPackage)), fmt::join(largest, ", ")));
}

std::string find_package_folder(const std::string& asked) {
  if (!asked.empty()) {
    if (is_package(asked)) return asked;
    throw ConfigError(fmt::format("ray: --package {}: no folder that deploy/package made", asked));
  }
  const fs::path above = fs::weakly_canonical(fs::path(library_folder()) / "..");
  for (const fs::path& folder : {above / "package", above}) {
    if (is_package(folder)) return folder.string();
  }
  throw ConfigError(fmt::format("ray: no {}: make it with deploy/package, or give --package FOLDER",
                                (above / "package").string()));
}

}  // namespace lockstep::cluster
