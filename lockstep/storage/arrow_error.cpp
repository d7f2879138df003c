#include "lockstep/storage/arrow_error.h"

#include <arrow/util/io_util.h>
#include <fmt/core.h>

#include <array>
#include <cerrno>

#include "lockstep/base/io_error.h"

namespace lockstep::storage {
namespace {

struct Cause {
  std::string_view sign;  // in Arrow's text
  bool permanent;
  std::string_view way_out;
};

constexpr std::string_view kS3Forbidden = "AWS Error ACCESS_DENIED";
constexpr std::string_view kGcsForbidden = "Status(PERMISSION_DENIED";

constexpr std::string_view kNoBucket = "make the bucket, or correct the location";
constexpr std::string_view kCheckKeys = "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_PROFILE";
constexpr std::string_view kCertificate =
    "name the certificates of who signs for it with SSL_CERT_FILE, or in the location with "
    "tls_ca_file_path";
constexpr std::string_view kS3Rights =
    "the credentials need s3:GetObject, s3:PutObject, s3:DeleteObject and s3:AbortMultipartUpload on the "
    "objects and s3:ListBucket on the bucket";
constexpr std::string_view kGcsRights =
    "the credentials need the role Storage Object Admin on the bucket; see GOOGLE_APPLICATION_CREDENTIALS";

// S3's errors by the names that its SDK gives them, Google's by its status codes. What is not
// listed may go away by itself.
constexpr std::array kCauses = {
    Cause{"AWS Error NO_SUCH_BUCKET", true, kNoBucket},
    Cause{"' not found", true, kNoBucket},  // when the bucket is asked for its region
    Cause{kS3Forbidden, true, kS3Rights},
    Cause{"AWS Error INVALID_ACCESS_KEY_ID", true, kCheckKeys},
    Cause{"AWS Error INVALID_CLIENT_TOKEN_ID", true, kCheckKeys},
    Cause{"AWS Error UNRECOGNIZED_CLIENT", true, kCheckKeys},
    Cause{"AWS Error MISSING_AUTHENTICATION_TOKEN", true, kCheckKeys},
    Cause{"AWS Error SIGNATURE_DOES_NOT_MATCH", true, kCheckKeys},
    Cause{"AWS Error INVALID_SIGNATURE", true, kCheckKeys},
    Cause{"AWS Error REQUEST_TIME_TOO_SKEWED", true, "set this machine's clock"},
    Cause{"AWS Error UNKNOWN (HTTP status 301)", true, "name the bucket's region: s3://...?region=..."},
    // Keys may be renewed from outside: by the agent that gives them, or in the profile's file.
    Cause{"ExpiredToken", false,
          "keys given in AWS_ACCESS_KEY_ID are never renewed: use EKS Pod Identity, an instance's role or "
          "keys that outlive the run"},
    Cause{"curlCode: 60", true, kCertificate},
    Cause{"CURL error [60]", true, kCertificate},
    Cause{"Status(NOT_FOUND", true, kNoBucket},
    Cause{kGcsForbidden, true, kGcsRights},
    Cause{"Status(UNAUTHENTICATED", true, kGcsRights},
    // The service that gives tokens on Google's machines may be about to start.
    Cause{"Could not create a OAuth2 access token", false,
          "set GOOGLE_APPLICATION_CREDENTIALS, or run on a machine with a service account"},
};

const Cause* cause_of(std::string_view text) {
  for (const Cause& cause : kCauses) {
    if (text.find(cause.sign) != std::string_view::npos) return &cause;
  }
  return nullptr;
}

// Arrow says the bucket and key once more before the service's own words.
std::string_view without_place(std::string_view text) {
  const size_t begin = text.find("AWS Error ");
  return begin == std::string_view::npos ? text : text.substr(begin);
}

}  // namespace

bool is_not_there(const arrow::Status& status) { return arrow::internal::ErrnoFromStatus(status) == ENOENT; }

bool is_forbidden(const arrow::Status& status) {
  const std::string& text = status.message();
  return text.find(kS3Forbidden) != text.npos || text.find(kGcsForbidden) != text.npos;
}

void throw_arrow_error(const arrow::Status& status, std::string_view action, std::string_view place) {
  const std::string text = status.message();
  const Cause* cause = cause_of(text);
  const std::string message = fmt::format("storage: cannot {} {}: {}{}{}", action, place, without_place(text),
                                          cause ? "; " : "", cause ? cause->way_out : "");
  if (cause && cause->permanent) throw PermanentIoError(message);
  throw IoError(message);
}

}  // namespace lockstep::storage
