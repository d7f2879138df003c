#include "tests/storage/s3_server.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

namespace lockstep::storage {

S3Server::S3Server(const std::vector<std::string>& options, int port)
    : ObjectServer("s3_server.py", options, port) {
  std::ofstream(token_file()) << "pod-identity-token";
}

std::string S3Server::location(const std::string& prefix) const {
  return fmt::format("s3://bucket/{}?endpoint_override=127.0.0.1:{}&scheme=http", prefix, port());
}

std::string S3Server::credentials_uri(double seconds) const {
  return fmt::format("http://127.0.0.1:{}/v1/credentials?live={}", port(), seconds);
}

int64_t S3Server::num_keys_given() const {
  const std::string text = output();
  int64_t num_given = 0;
  for (size_t at = text.find("gave "); at != text.npos; at = text.find("gave ", at + 1)) ++num_given;
  return num_given;
}

void use_no_access_key() {
  for (const char* name : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE",
                           "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                           "AWS_WEB_IDENTITY_TOKEN_FILE"}) {
    ::unsetenv(name);
  }
  ::setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null", 1);
  ::setenv("AWS_CONFIG_FILE", "/dev/null", 1);
  ::setenv("AWS_EC2_METADATA_DISABLED", "true", 1);
}

void use_access_key(const std::string& key) {
  use_no_access_key();
  ::setenv("AWS_ACCESS_KEY_ID", key.c_str(), 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
}

}  // namespace lockstep::storage
