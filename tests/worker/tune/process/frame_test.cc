#include "worker/tune/process/frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "tests/worker/tune/open_fds.h"
#include "tests/worker/tune/process/child_roles.h"

namespace telemetry::worker::tune::process {
namespace {

using absl::StatusCode;

constexpr size_t kLimitBytes = 1000;

class FrameTest : public testing::Test {
 protected:
  FrameTest() : reader_(kLimitBytes) {
    std::array<int, 2> fds = {-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds.data()), 0);
    near_ = OwnedFd(fds[0]);
    far_ = OwnedFd(fds[1]);
  }

  void Send(const std::string& text, const std::vector<int>& fds = {}) {
    FrameWriter writer = FrameWriter::Create(MakeText(text), fds, kLimitBytes).value();
    EXPECT_TRUE(writer.Write(near_.get()).value());
  }

  // Reads the sent bytes from the socket.
  std::string Bytes() {
    std::string bytes(kLimitBytes, '\0');
    bytes.resize(static_cast<size_t>(recv(far_.get(), bytes.data(), bytes.size(), 0)));
    return bytes;
  }

  static std::string TextIn(const Frame& frame) {
    Text text;
    EXPECT_EQ(ParseFrame(frame, &text), absl::OkStatus());
    return text.value();
  }

  OwnedFd near_, far_;
  FrameReader reader_;
};

TEST_F(FrameTest, FramesComeOneByOne) {
  Send("one");
  Send("");
  Send("three");
  for (const char* expected : {"one", "", "three"}) {
    ASSERT_TRUE(reader_.Read(far_.get()).value());
    EXPECT_EQ(TextIn(reader_.Take()), expected);
  }
  EXPECT_FALSE(reader_.Read(far_.get()).value());
}

TEST_F(FrameTest, AFrameMayComeByteByByte) {
  Send("in pieces");
  for (const char& byte : Bytes()) {
    EXPECT_FALSE(reader_.Read(far_.get()).value());
    ASSERT_EQ(send(near_.get(), &byte, 1, 0), 1);
  }
  ASSERT_TRUE(reader_.Read(far_.get()).value());
  EXPECT_EQ(TextIn(reader_.Take()), "in pieces");
}

TEST_F(FrameTest, DescriptorsStayWithTheirFrame) {
  std::array<int, 2> pipe_fds = {-1, -1};
  ASSERT_EQ(pipe(pipe_fds.data()), 0);
  const OwnedFd read_end(pipe_fds[0]);
  const OwnedFd write_end(pipe_fds[1]);
  const int before = OpenFds();
  Send("none");
  Send("two", {read_end.get(), write_end.get()});
  Send("none either");
  for (size_t count : {0, 2, 0}) {
    ASSERT_TRUE(reader_.Read(far_.get()).value());
    const Frame frame = reader_.Take();
    ASSERT_EQ(frame.fds.size(), count);
    if (count == 2) {
      EXPECT_EQ(write(frame.fds[1].get(), "x", 1), 1);
    }
  }
  char byte = 0;
  EXPECT_EQ(read(read_end.get(), &byte, 1), 1);
  EXPECT_EQ(OpenFds(), before);
}

TEST_F(FrameTest, AWriterWaitsForNobody) {
  constexpr size_t kLargeBytes = size_t{4} << 20;
  FrameWriter writer = FrameWriter::Create(MakeText(std::string(kLargeBytes, 'x')), {}, 2 * kLargeBytes).value();
  FrameReader reader(2 * kLargeBytes);
  while (!writer.Write(near_.get()).value()) {
    EXPECT_FALSE(reader.Read(far_.get()).value());
  }
  ASSERT_TRUE(reader.Read(far_.get()).value());
  EXPECT_EQ(TextIn(reader.Take()).size(), kLargeBytes);
}

TEST_F(FrameTest, TheEndInsideAFrameIsTheEnd) {
  Send("cut");
  const std::string bytes = Bytes();
  ASSERT_EQ(send(near_.get(), bytes.data(), bytes.size() - 1, 0), static_cast<ssize_t>(bytes.size() - 1));
  EXPECT_FALSE(reader_.Read(far_.get()).value());
  near_ = OwnedFd();
  EXPECT_EQ(reader_.Read(far_.get()).status().code(), StatusCode::kUnavailable);
}

TEST_F(FrameTest, NobodyListens) {
  far_ = OwnedFd();
  FrameWriter writer = FrameWriter::Create(MakeText("one"), {}, kLimitBytes).value();
  EXPECT_EQ(writer.Write(near_.get()).status().code(), StatusCode::kUnavailable);
}

TEST_F(FrameTest, OtherBytesAreNoFrame) {
  ASSERT_EQ(send(near_.get(), "hello, hello", 12, 0), 12);
  EXPECT_EQ(reader_.Read(far_.get()).status().code(), StatusCode::kDataLoss);
}

TEST_F(FrameTest, OtherBytesAreNoMessage) {
  Text text;
  EXPECT_EQ(ParseFrame({.payload = "\xff\xff"}, &text).code(), StatusCode::kDataLoss);
}

TEST_F(FrameTest, TheLimitHoldsOnBothSides) {
  const Text large = MakeText(std::string(kLimitBytes, 'x'));
  EXPECT_EQ(FrameWriter::Create(large, {}, kLimitBytes).status().code(), StatusCode::kInvalidArgument);
  FrameWriter writer = FrameWriter::Create(large, {}, 2 * kLimitBytes).value();
  ASSERT_TRUE(writer.Write(near_.get()).value());
  EXPECT_EQ(reader_.Read(far_.get()).status().code(), StatusCode::kDataLoss);
}

TEST_F(FrameTest, TooManyDescriptorsAreRefused) {
  const std::vector<int> fds(kMaxFrameFds + 1);
  EXPECT_EQ(FrameWriter::Create(Text(), fds, kLimitBytes).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace telemetry::worker::tune::process
