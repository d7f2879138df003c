#include "lockstep/launch/line_reader.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <string_view>
#include <vector>

namespace lockstep::launch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LineReaderTest : public testing::Test {
 protected:
  LineReaderTest() { EXPECT_EQ(::pipe2(ends_, O_NONBLOCK | O_CLOEXEC), 0); }
  ~LineReaderTest() override {
    ::close(ends_[0]);
    close_writer();
  }
  void write(std::string_view text) {
    ASSERT_EQ(::write(ends_[1], text.data(), text.size()), ssize_t(text.size()));
  }
  void close_writer() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  bool read() {
    lines_.clear();
    return reader_.read(ends_[0], [this](const std::string& line) { lines_.push_back(line); });
  }

  int ends_[2];
  LineReader reader_;
  std::vector<std::string> lines_;
};

TEST_F(LineReaderTest, KeepsAnIncompleteLineForTheNextRead) {
  write("one\ntw");
  EXPECT_TRUE(read());
  EXPECT_THAT(lines_, ElementsAre("one"));
  write("o\n\nthree\n");
  EXPECT_TRUE(read());
  EXPECT_THAT(lines_, ElementsAre("two", "three"));
}

TEST_F(LineReaderTest, SaysWhenTheWriterIsGone) {
  write("cut sho");
  close_writer();
  EXPECT_FALSE(read());
  EXPECT_THAT(lines_, IsEmpty());  // half an event is none
}

}  // namespace
}  // namespace lockstep::launch
