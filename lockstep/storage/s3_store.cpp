#include "lockstep/storage/s3_store.h"

#include <arrow/filesystem/s3fs.h>
#include <fmt/core.h>
#include <signal.h>

#include "lockstep/base/env_var.h"
#include "lockstep/base/io_error.h"
#include "lockstep/storage/arrow_error.h"
#include "lockstep/storage/arrow_location.h"
#include "lockstep/storage/arrow_store.h"
#include "lockstep/storage/retry.h"

namespace lockstep::storage {
namespace {

constexpr double kConnectSeconds = 5;
constexpr double kSilentSeconds = 20;

class FewTries : public arrow::fs::S3RetryStrategy {
 public:
  bool ShouldRetry(const AWSErrorDetail& error, int64_t attempted_retries) override {
    return error.should_retry && attempted_retries + 1 < kTries;
  }
  int64_t CalculateDelayBeforeNextRetry(const AWSErrorDetail&, int64_t attempted_retries) override {
    const std::chrono::milliseconds longest = std::chrono::milliseconds(500) * (attempted_retries + 1);
    return cut_by_chance(longest, RetryClock::real().random()).count() / 1'000'000;
  }

 private:
  static constexpr int64_t kTries = 3;
};

// The SDK must be shut down at exit before Arrow's statics go.
class S3Sdk {
 public:
  S3Sdk() {
    auto options = arrow::fs::S3GlobalOptions::Defaults();
    // A connection that the service closed must not end the process; a program's own way of
    // handling that stays.
    struct sigaction sigpipe {};
    ::sigaction(SIGPIPE, nullptr, &sigpipe);
    options.install_sigpipe_handler = sigpipe.sa_handler == SIG_DFL;
    throw_if_failed(arrow::fs::InitializeS3(options), "start", "the AWS SDK");
    // Arrow makes the rest of its statics with the first client: here, so that they outlive this object.
    const auto client = arrow::fs::S3FileSystem::Make(arrow::fs::S3Options::Anonymous());
    throw_if_failed(client.status(), "start", "the AWS SDK");
  }
  S3Sdk(const S3Sdk&) = delete;
  S3Sdk& operator=(const S3Sdk&) = delete;
  ~S3Sdk() { (void)arrow::fs::EnsureS3Finalized(); }
};

void require_credentials(const arrow::fs::S3Options& options, const std::string& root) {
  if (!options.GetAccessKey().empty()) return;
  const std::string message = fmt::format("storage: cannot open s3://{}: no credentials", root);
  if (const auto agent = env_var("AWS_CONTAINER_CREDENTIALS_FULL_URI")) {
    throw IoError(fmt::format(
        "{} from EKS Pod Identity at {} (AWS_CONTAINER_CREDENTIALS_FULL_URI, token file {}); check that its "
        "agent runs on this node and that the pod's service account has an association",
        message, *agent, env_var("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE").value_or("not set")));
  }
  throw PermanentIoError(message +
                         "; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE, or give this "
                         "machine a role");
}

}  // namespace

std::unique_ptr<ObjectStore> open_s3(const std::string& location) {
  static const S3Sdk sdk;
  const arrow::util::Uri uri = parse_location(location);
  std::string root;
  auto found = arrow::fs::S3Options::FromUri(uri, &root);
  arrow::fs::S3Options options = options_or_throw(std::move(found), "s3://" + uri.host());
  options.connect_timeout = kConnectSeconds;
  options.request_timeout = kSilentSeconds;
  options.retry_strategy = std::make_shared<FewTries>();
  options.background_writes = true;   // parts at once
  options.allow_delayed_open = true;  // one request for a small value
  require_credentials(options, root);

  const auto files = options_or_throw(arrow::fs::S3FileSystem::Make(options), "s3://" + uri.host());
  require_bucket(*files, "s3", uri.host());
  return std::make_unique<ArrowStore>(files, "s3", root);
}

}  // namespace lockstep::storage
