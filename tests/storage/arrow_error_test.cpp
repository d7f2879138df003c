#include "lockstep/storage/arrow_error.h"

#include <gmock/gmock.h>

#include "lockstep/base/io_error.h"

namespace lockstep::storage {
namespace {

// The message, and whether trying again is of no use.
std::pair<std::string, bool> thrown_for(const arrow::Status& status) {
  try {
    throw_arrow_error(status, "write", "s3://bucket/key");
  } catch (const PermanentIoError& error) {
    return {error.what(), true};
  } catch (const IoError& error) {
    return {error.what(), false};
  }
}

// What Arrow 26 says, from its sources and from servers.
constexpr const char* kPermanent[] = {
    "When listing objects under key 'k/' in bucket 'b': AWS Error NO_SUCH_BUCKET during ListObjectsV2 "
    "operation: The specified bucket does not exist",
    "Bucket 'b' not found",
    "AWS Error ACCESS_DENIED during PutObject operation: Access Denied",
    "AWS Error INVALID_ACCESS_KEY_ID during PutObject operation: does not exist in our records.",
    "AWS Error SIGNATURE_DOES_NOT_MATCH during PutObject operation: check your key",
    "AWS Error REQUEST_TIME_TOO_SKEWED during PutObject operation: too large",
    "AWS Error UNKNOWN (HTTP status 301) during HeadBucket operation: No response body.",
    "AWS Error NETWORK_CONNECTION during HeadBucket operation: curlCode: 60, SSL peer certificate",
    "google::cloud::Status(NOT_FOUND: The specified bucket does not exist.)",
    "google::cloud::Status(PERMISSION_DENIED: no storage.objects.create access)",
    "google::cloud::Status(UNAUTHENTICATED: Invalid Credentials)",
};
constexpr const char* kTransient[] = {
    "AWS Error NETWORK_CONNECTION during PutObject operation: curlCode: 7, Could not connect to server",
    "AWS Error NETWORK_CONNECTION during PutObject operation: curlCode: 28, Timeout was reached",
    "AWS Error SLOW_DOWN during PutObject operation: Please reduce your request rate.",
    "AWS Error INTERNAL_FAILURE during UploadPart operation: We encountered an internal error.",
    "AWS Error UNKNOWN (HTTP status 400) during PutObject operation: Unable to parse ExceptionName: "
    "ExpiredToken Message: The provided token has expired.",
    "google::cloud::Status(UNAVAILABLE: Retry policy exhausted)",
};

TEST(ArrowError, TellsWhatWouldFailAgain) {
  for (const char* text : kPermanent) EXPECT_TRUE(thrown_for(arrow::Status::IOError(text)).second) << text;
  for (const char* text : kTransient) EXPECT_FALSE(thrown_for(arrow::Status::IOError(text)).second) << text;
}

TEST(ArrowError, SaysThePlaceOnceTheReasonAndTheWayOut) {
  const std::string message = thrown_for(arrow::Status::IOError(kPermanent[0])).first;
  EXPECT_EQ(message,
            "storage: cannot write s3://bucket/key: AWS Error NO_SUCH_BUCKET during ListObjectsV2 operation: "
            "The specified bucket does not exist; make the bucket, or correct the location");
}

}  // namespace
}  // namespace lockstep::storage
