// A real S3 server for tests: moto. s3_server.py says how it fails on demand.
#pragma once

#include "tests/storage/object_server.h"

namespace lockstep::storage {

class S3Server : public ObjectServer {
 public:
  explicit S3Server(const std::vector<std::string>& options = {}, int port = 0);

  // "s3://bucket/<prefix>", and the options that lead to this server.
  std::string location(const std::string& prefix) const;

  // Where keys are given that live so long, to whom sends what token_file() holds.
  std::string credentials_uri(double seconds) const;
  std::string token_file() const { return folder() / "token"; }
  int64_t num_keys_given() const;
};

// Takes this process's own AWS credentials away and gives it an access key, which says how the
// server answers.
void use_access_key(const std::string& key);
// The same without any key.
void use_no_access_key();

}  // namespace lockstep::storage
