#include "lockstep/storage/arrow_upload.h"

#include <arrow/result.h>
#include <gmock/gmock.h>

#include "lockstep/base/error.h"

namespace lockstep::storage {
namespace {

// What became of a stream, which may be gone by then.
struct Fate {
  int64_t num_bytes = 0;
  int64_t most_unflushed = 0;
  int num_aborts = 0;
  bool published = false;
};

// Like Arrow's streams to object stores: closing publishes what was written, and destroying closes.
class FakeStream : public arrow::io::OutputStream {
 public:
  FakeStream(Fate& fate, arrow::Status abort_status) : fate_(fate), abort_status_(std::move(abort_status)) {}
  ~FakeStream() override { (void)Close(); }

  arrow::Status Close() override {
    fate_.published = fate_.published || !closed_;
    closed_ = true;
    return arrow::Status::OK();
  }
  arrow::Status Abort() override {
    ++fate_.num_aborts;
    closed_ = abort_status_.ok();
    return abort_status_;
  }
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return fate_.num_bytes; }
  using OutputStream::Write;
  arrow::Status Write(const void*, int64_t num_bytes) override {
    fate_.num_bytes += num_bytes;
    unflushed_ += num_bytes;
    fate_.most_unflushed = std::max(fate_.most_unflushed, unflushed_);
    return arrow::Status::OK();
  }
  arrow::Status Flush() override {
    unflushed_ = 0;
    return arrow::Status::OK();
  }

 private:
  Fate& fate_;
  arrow::Status abort_status_;
  bool closed_ = false;
  int64_t unflushed_ = 0;
};

TEST(ArrowUpload, PublishesWhenItIsFinished) {
  Fate fate;
  {
    ArrowUpload upload(std::make_shared<FakeStream>(fate, arrow::Status::OK()), "s3://bucket/key");
    upload.write(std::as_bytes(std::span("value", 5)));
    EXPECT_FALSE(fate.published);
    upload.finish();
  }
  EXPECT_TRUE(fate.published);
  EXPECT_EQ(fate.num_aborts, 0);
}

TEST(ArrowUpload, PublishesNothingWhenItIsDropped) {
  Fate fate;
  {
    ArrowUpload upload(std::make_shared<FakeStream>(fate, arrow::Status::OK()), "s3://bucket/key");
    upload.write(std::as_bytes(std::span("value", 5)));
  }
  EXPECT_FALSE(fate.published);
  EXPECT_EQ(fate.num_aborts, 1);
}

TEST(ArrowUpload, PublishesNothingWhenTheServiceCannotBeToldThatItWasDropped) {
  // The stream is never destroyed, and so outlives the test.
  static Fate fate;
  {
    ArrowUpload upload(std::make_shared<FakeStream>(fate, arrow::Status::IOError("unreachable")),
                       "s3://bucket/key");
    upload.write(std::as_bytes(std::span("value", 5)));
  }
  EXPECT_FALSE(fate.published);
  EXPECT_EQ(fate.num_aborts, 1);
}

TEST(ArrowUpload, LetsArrowCopyNoMoreThanAWindow) {
  Fate fate;
  ArrowUpload upload(std::make_shared<FakeStream>(fate, arrow::Status::OK()), "s3://bucket/key");
  const std::vector<std::byte> value(2 * ArrowUpload::kWindowBytes + 1);
  upload.write(value);
  EXPECT_EQ(fate.num_bytes, static_cast<int64_t>(value.size()));
  EXPECT_EQ(fate.most_unflushed, static_cast<int64_t>(ArrowUpload::kWindowBytes));
}

}  // namespace
}  // namespace lockstep::storage
