// Base64 (RFC 4648, 4), by OpenSSL.
#pragma once

#include <optional>
#include <string>

namespace lockstep::cluster {

std::string base64_encoded(const std::string& bytes);
// Nothing for what is no Base64.
std::optional<std::string> base64_decoded(const std::string& text);

}  // namespace lockstep::cluster
