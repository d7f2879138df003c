// Addresses of HTTP, as far as redirections and logins need them (RFC 3986).
#pragma once

#include <optional>
#include <string>

namespace lockstep::cluster {

struct HttpUrl {
  std::string origin;  // "https://host:443", as it was written
  std::string path;    // with the query; "/" at least

  // Nothing for what is no http or https address.
  static std::optional<HttpUrl> parse(const std::string& text);
  // Where a Location header of an answer from here leads: a whole address, or a path that begins with "/".
  std::optional<HttpUrl> redirected(const std::string& location) const;
};

// All but letters, digits and "-._~" as %XX: the value of a query's parameter.
std::string percent_encoded(const std::string& text);

}  // namespace lockstep::cluster
