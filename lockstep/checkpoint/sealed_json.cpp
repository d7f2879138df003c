#include "lockstep/checkpoint/sealed_json.h"

#include <fmt/core.h>

#include <string_view>

#include "lockstep/base/sha256.h"
#include "lockstep/checkpoint/damaged.h"
#include "lockstep/storage/object_store.h"

namespace lockstep::checkpoint {
namespace {

constexpr std::string_view kBegin = "{\"sha256\":\"", kMiddle = "\",\"body\":", kEnd = "}\n";
constexpr size_t kHashDigits = 64;

}  // namespace

std::string seal(const Json& body) {
  const std::string text = body.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  return fmt::format("{}{}{}{}{}", kBegin, sha256_hex(text), kMiddle, text, kEnd);
}

Json unseal(std::span<const std::byte> bytes, const std::string& origin) {
  std::string_view text = storage::as_text(bytes);
  const size_t body_begin = kBegin.size() + kHashDigits + kMiddle.size();
  const bool framed = text.size() >= body_begin + kEnd.size() && text.starts_with(kBegin) &&
                      text.substr(kBegin.size() + kHashDigits).starts_with(kMiddle) && text.ends_with(kEnd);
  if (!framed) throw DamagedError(fmt::format("{} is cut or was not written by Lockstep", origin));
  const std::string_view hash = text.substr(kBegin.size(), kHashDigits);
  const std::string_view body = text.substr(body_begin, text.size() - body_begin - kEnd.size());
  if (sha256_hex(body) != hash)
    throw DamagedError(fmt::format("{} was changed: its SHA-256 differs", origin));
  Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) throw DamagedError(fmt::format("{} does not hold a JSON object", origin));
  return json;
}

}  // namespace lockstep::checkpoint
