#include "lockstep/record/record.h"

#include <fmt/core.h>

#include "lockstep/base/error.h"
#include "lockstep/base/optional_json.h"

namespace lockstep::record {
namespace {

// The lock of the image that the workers run in, which `lockstep submit --image-lock` passes on as JSON.
constexpr const char* kImageLockVariable = "LOCKSTEP_IMAGE_LOCK";

Json image_lock_in(const std::map<std::string, std::string>& environment) {
  const auto found = environment.find(kImageLockVariable);
  if (found == environment.end()) return nullptr;
  Json lock = Json::parse(found->second, nullptr, /*allow_exceptions=*/false);
  return lock.is_object() ? lock : Json(found->second);
}

std::map<std::string, std::string> without_image_lock(std::map<std::string, std::string> environment) {
  environment.erase(kImageLockVariable);
  return environment;
}

}  // namespace

Json Record::to_json() const {
  return {{"version", 1},
          {"started", started},
          {"finished", or_null(finished)},
          {"command", command},
          {"commit", commit.empty() ? Json() : Json(commit)},
          {"binary_sha256", binary_sha256},
          {"libraries", libraries},
          {"python_packages", python_packages},
          {"hosts", hosts},
          {"image_lock", image_lock_in(environment)},
          {"environment", without_image_lock(environment)},
          {"data_sha256", data_sha256},
          {"weights_sha256", weights_sha256},
          {"results", results},
          {"recipe", recipe}};
}

void write_record(const RunDirectory& run, const Record& record) {
  const std::string text =
      record.to_json().dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
  run.store().put(std::string(kRecordKey), storage::as_bytes(text));
}

std::optional<Json> read_record(const RunDirectory& run) {
  const auto bytes = run.store().get(std::string(kRecordKey));
  if (!bytes) return std::nullopt;
  Json json = Json::parse(storage::as_text(*bytes), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    throw IoError(
        fmt::format("cannot read {}/{}: it is not a JSON object; the file was changed or damaged since "
                    "the run wrote it",
                    run.path(), kRecordKey));
  }
  return json;
}

}  // namespace lockstep::record
