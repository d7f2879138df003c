#include "lockstep/cluster/image/base64.h"

#include <openssl/evp.h>

#include <algorithm>

namespace lockstep::cluster {
namespace {

const unsigned char* raw(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string base64_encoded(const std::string& bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL ends it with a zero byte
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), raw(bytes),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(size));
  return text;
}

std::optional<std::string> base64_decoded(const std::string& text) {
  const auto padding = static_cast<size_t>(std::count(text.begin(), text.end(), '='));
  if (text.size() % 4 != 0 || padding > 2) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), raw(text),
                                   static_cast<int>(text.size()));
  if (size < 0) return std::nullopt;
  bytes.resize(static_cast<size_t>(size) - padding);  // OpenSSL counts the padding
  return bytes;
}

}  // namespace lockstep::cluster
