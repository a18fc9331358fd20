#include "worker/tune/recording/append_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "tests/file_size_limit.h"
#include "tests/worker/tune/recording/sample_attempt.h"

namespace telemetry::worker::tune::recording {
namespace {

using testing::HasSubstr;

class AppendFileTest : public testing::Test {
 protected:
  AppendFile Open() { return AppendFile::Open(path_).value(); }

  TempFolder folder_;
  const std::string path_ = folder_.File("rows.csv");
};

TEST_F(AppendFileTest, LinesStandBehindEachOther) {
  ASSERT_TRUE(Open().Append("a\r\nb\r\n", "\r\n").ok());
  ASSERT_TRUE(Open().Append("c\r\n", "\r\n").ok());
  EXPECT_EQ(ReadFile(path_), "a\r\nb\r\nc\r\n");
}

TEST_F(AppendFileTest, ALastLineThatWasNotFinishedIsEnded) {
  const std::pair<const char*, const char*> cases[] = {
      {"torn", "torn\r\nnew\r\n"}, {"torn\r", "torn\r\nnew\r\n"}, {"whole\n", "whole\nnew\r\n"}, {"", "new\r\n"}};
  for (const auto& [before, after] : cases) {
    WriteFile(path_, before);
    ASSERT_TRUE(Open().Append("new\r\n", "\r\n").ok());
    EXPECT_EQ(ReadFile(path_), after);
  }
}

TEST_F(AppendFileTest, AFileThatWasMovedAwayLosesItsPath) {
  const AppendFile file = Open();
  EXPECT_TRUE(file.HasItsPath());
  std::filesystem::rename(path_, path_ + ".1");
  EXPECT_FALSE(file.HasItsPath());
  WriteFile(path_, "another");
  EXPECT_FALSE(file.HasItsPath());
}

TEST_F(AppendFileTest, TheLockIsHeldByOne) {
  AppendFile one = Open();
  AppendFile other = Open();
  std::atomic<bool> is_held = true;
  std::thread waiter;
  {
    const absl::StatusOr<AppendFile::Lock> lock = one.Acquire();
    ASSERT_TRUE(lock.ok());
    waiter = std::thread([&] {
      const absl::StatusOr<AppendFile::Lock> second = other.Acquire();
      EXPECT_FALSE(is_held);
    });
    is_held = false;
  }
  waiter.join();
}

TEST_F(AppendFileTest, AMissingFolderIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(AppendFile::Open(folder_.File("missing/rows.csv")).status()));
}

TEST_F(AppendFileTest, WhatDoesNotFitLeavesNothingBehind) {
  AppendFile file = Open();
  ASSERT_TRUE(file.Append("first\n", "\n").ok());
  absl::Status part;
  absl::Status none;
  {
    const FileSizeLimit limit(10);
    part = file.Append("second line\n", "\n");
  }
  {
    const FileSizeLimit limit(6);
    none = file.Append("second line\n", "\n");
  }
  for (const absl::Status& status : {part, none}) {
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(path_));
    EXPECT_THAT(std::string(status.message()), HasSubstr("make room"));
  }
  EXPECT_EQ(ReadFile(path_), "first\n");
  ASSERT_TRUE(file.Append("second line\n", "\n").ok());
  EXPECT_EQ(ReadFile(path_), "first\nsecond line\n");
}

}  // namespace
}  // namespace telemetry::worker::tune::recording
