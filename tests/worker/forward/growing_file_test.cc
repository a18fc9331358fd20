#include "worker/forward/growing_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "gtest/gtest.h"
#include "tests/worker/forward/test_files.h"

namespace telemetry::worker::forward {
namespace {

class GrowingFileTest : public ::testing::Test {
 protected:
  GrowingFile::Change Read() {
    absl::StatusOr<GrowingFile::Change> change = file_.Read(&bytes_);
    EXPECT_TRUE(change.ok()) << change.status();
    return change.value_or(GrowingFile::Change::kNone);
  }

  TempFolder folder_;
  std::string path_ = folder_.File("log.csv");
  GrowingFile file_{path_};
  std::string bytes_;
};

TEST_F(GrowingFileTest, AnAbsentFileIsEmpty) { EXPECT_EQ(Read(), GrowingFile::Change::kNone); }

TEST_F(GrowingFileTest, EachByteComesOnce) {
  WriteFile(path_, "one\n");
  EXPECT_EQ(Read(), GrowingFile::Change::kGrown);
  EXPECT_EQ(bytes_, "one\n");
  EXPECT_EQ(Read(), GrowingFile::Change::kNone);
  AppendFile(path_, "two\n");
  EXPECT_EQ(Read(), GrowingFile::Change::kGrown);
  EXPECT_EQ(bytes_, "two\n");
}

TEST_F(GrowingFileTest, ALargeFileComesInPieces) {
  const std::string content = std::string(GrowingFile::kChunkBytes, 'a') + "end";
  WriteFile(path_, content);
  std::string read;
  while (Read() == GrowingFile::Change::kGrown) read += bytes_;
  EXPECT_EQ(read, content);
}

TEST_F(GrowingFileTest, AnotherFileUnderTheName) {
  WriteFile(path_, "one\n");
  Read();
  ReplaceFile(path_, "one\ntwo\n");
  EXPECT_EQ(Read(), GrowingFile::Change::kReplaced);
  file_.Restart();
  EXPECT_EQ(Read(), GrowingFile::Change::kGrown);
  EXPECT_EQ(bytes_, "one\ntwo\n");
}

TEST_F(GrowingFileTest, ARenamedFileIsReadOn) {
  WriteFile(path_, "one\n");
  Read();
  std::filesystem::rename(path_, path_ + ".1");
  EXPECT_EQ(Read(), GrowingFile::Change::kNone);
  EXPECT_TRUE(file_.is_renamed());
  AppendFile(path_ + ".1", "two\n");
  WriteFile(path_, "another one\n");
  EXPECT_EQ(Read(), GrowingFile::Change::kGrown);
  EXPECT_EQ(bytes_, "two\n");
  std::filesystem::rename(path_ + ".1", path_ + ".2");
  AppendFile(path_ + ".2", "three\n");
  EXPECT_EQ(Read(), GrowingFile::Change::kGrown);
  EXPECT_EQ(bytes_, "three\n");
  std::filesystem::remove(path_ + ".2");
  EXPECT_EQ(Read(), GrowingFile::Change::kNone);
}

TEST_F(GrowingFileTest, ARenamedFileBehindASymbolicLinkIsReadOn) {
  const std::string target = folder_.File("elsewhere/log.csv");
  WriteFile(target, "one\n");
  std::filesystem::create_symlink(target, path_);
  Read();
  std::filesystem::rename(target, target + "-20261125");
  AppendFile(target + "-20261125", "two\n");
  EXPECT_EQ(Read(), GrowingFile::Change::kGrown);
  EXPECT_EQ(bytes_, "two\n");
}

TEST_F(GrowingFileTest, TruncatedAndWrittenAnew) {
  WriteFile(path_, "one\n");
  Read();
  WriteFile(path_, "another one\n");
  EXPECT_EQ(Read(), GrowingFile::Change::kReplaced);
}

TEST_F(GrowingFileTest, ShorterThanBefore) {
  WriteFile(path_, "one\ntwo\n");
  Read();
  std::filesystem::resize_file(path_, 4);
  EXPECT_EQ(Read(), GrowingFile::Change::kReplaced);
}

TEST_F(GrowingFileTest, AFolderIsAnErrorThatNamesIt) {
  std::filesystem::create_directory(path_);
  const absl::Status status = file_.Read(&bytes_).status();
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.ToString().find(path_), std::string::npos);
}

TEST_F(GrowingFileTest, AFifoIsNotWaitedFor) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(file_.Read(&bytes_).status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace telemetry::worker::forward
