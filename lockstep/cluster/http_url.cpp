#include "lockstep/cluster/http_url.h"

#include <fmt/format.h>

#include <cctype>
#include <string_view>

namespace lockstep::cluster {

std::optional<HttpUrl> HttpUrl::parse(const std::string& text) {
  const size_t host = text.starts_with("http://") ? 7 : text.starts_with("https://") ? 8 : 0;
  const size_t path = text.find_first_of("/?#", host);
  if (host == 0 || path == host || host == text.size()) return std::nullopt;
  HttpUrl url{text.substr(0, path), path == text.npos ? "/" : text.substr(path)};
  url.path.resize(url.path.find('#') == url.path.npos ? url.path.size() : url.path.find('#'));
  if (!url.path.starts_with('/')) url.path.insert(0, "/");
  return url;
}

std::optional<HttpUrl> HttpUrl::redirected(const std::string& location) const {
  if (location.starts_with("//")) return parse(origin.substr(0, origin.find('/')) + location);
  if (location.starts_with('/')) return HttpUrl{origin, location};
  return parse(location);
}

std::string percent_encoded(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain =
        std::isalnum(byte) != 0 || std::string_view("-._~").find(c) != std::string_view::npos;
    result += is_plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return result;
}

}  // namespace lockstep::cluster
