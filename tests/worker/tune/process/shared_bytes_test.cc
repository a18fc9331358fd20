#include "worker/tune/process/shared_bytes.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/worker/tune/open_fds.h"
#include "tests/worker/tune/process/child_roles.h"

namespace telemetry::worker::tune::process {
namespace {

using absl::StatusCode;

std::vector<std::byte> Bytes(size_t count, int value) {
  return std::vector<std::byte>(count, static_cast<std::byte>(value));
}

bool AllAre(const SharedBytes& shared, int value) {
  return std::all_of(shared.bytes().begin(), shared.bytes().end(),
                     [&](std::byte byte) { return byte == static_cast<std::byte>(value); });
}

TEST(SharedBytesTest, AChildSeesWhatItIsSentAndWritesBack) {
  const auto child = StartRole("increment").value();
  const SharedBytes shared = SharedBytes::CreateCopy("inputs", Bytes(size_t{8} << 20, 7)).value();
  for (int round = 1; round <= 2; ++round) {
    ASSERT_EQ(child->Send(MakeText(""), kLong, {shared.fd()}), absl::OkStatus());
    Text answer;
    ASSERT_EQ(child->Receive(&answer, kLong), absl::OkStatus());
    EXPECT_TRUE(AllAre(shared, 7 + round));
  }
}

TEST(SharedBytesTest, BeginsWithZeros) {
  const SharedBytes shared = SharedBytes::Create("inputs", 5000).value();
  EXPECT_TRUE(AllAre(shared, 0));
}

TEST(SharedBytesTest, MayBeEmpty) {
  const SharedBytes none = SharedBytes::Create("nothing", 0).value();
  EXPECT_TRUE(none.bytes().empty());
  EXPECT_TRUE(SharedBytes::Open(OwnedFd(dup(none.fd())))->bytes().empty());
}

TEST(SharedBytesTest, NobodyChangesTheSize) {
  const SharedBytes shared = SharedBytes::Create("inputs", 5000).value();
  EXPECT_NE(ftruncate(shared.fd(), 10), 0);
  EXPECT_NE(ftruncate(shared.fd(), 10000), 0);
}

TEST(SharedBytesTest, MemoryWhoseSizeCanChangeIsRefused) {
  OwnedFd loose(memfd_create("loose", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(loose.get(), 5000), 0);
  EXPECT_EQ(SharedBytes::Open(std::move(loose)).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(SharedBytes::Open(OwnedFd(open("/dev/null", O_RDWR))).status().code(), StatusCode::kInvalidArgument);
}

TEST(SharedBytesTest, MoreThanThereIsIsRefused) {
  EXPECT_EQ(SharedBytes::Create("inputs", size_t{1} << 60).status().code(), StatusCode::kResourceExhausted);
}

TEST(SharedBytesTest, GoesWithItsOwner) {
  const int before = OpenFds();
  {
    SharedBytes first = SharedBytes::CreateCopy("first", Bytes(100, 1)).value();
    SharedBytes second = SharedBytes::CreateCopy("second", Bytes(200, 2)).value();
    first = std::move(second);
    EXPECT_EQ(first.bytes().size(), 200U);
    EXPECT_TRUE(AllAre(first, 2));
  }
  EXPECT_EQ(OpenFds(), before);
}

}  // namespace
}  // namespace telemetry::worker::tune::process
