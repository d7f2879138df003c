// The AWS command line, for one region. JSON in answers is the services' own (docs.aws.amazon.com).
#pragma once

#include <string>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/cluster/command_runner.h"

namespace lockstep::cluster::eks {

// The service answered, and refused. `code` is its word for why: "InsufficientInstanceCapacity".
class AwsError : public CommandError {
 public:
  AwsError(const std::string& message, std::string code) : CommandError(message), code_(std::move(code)) {}
  const std::string& code() const { return code_; }

 private:
  std::string code_;
};

class Aws {
 public:
  // `runner` must outlive it.
  Aws(CommandRunner& runner, std::string region) : runner_(runner), region_(std::move(region)) {}

  // call({"ec2", "describe-vpcs"}) runs `aws ec2 describe-vpcs --region R --output json`. Null where nothing
  // was printed. Throws AwsError, and CommandError where there was no answer, or none that is JSON.
  Json call(std::vector<std::string> arguments);
  // The same for a command that was put together elsewhere.
  Json call(const Command& command);
  // Null for an error of one of these codes, which mean "there is none".
  Json call_or_null(std::vector<std::string> arguments, const std::vector<std::string>& codes);

  const std::string& region() const { return region_; }
  CommandRunner& runner() { return runner_; }

 private:
  CommandRunner& runner_;
  std::string region_;
};

}  // namespace lockstep::cluster::eks
