#include "server/storage/sqlite/lock_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/server/storage/dataset_story.h"

namespace telemetry::storage::sqlite {
namespace {

using ::testing::HasSubstr;

class LockFileTest : public ::testing::Test {
 protected:
  absl::StatusCode SecondThrough(const std::string& path) { return LockFile::Acquire(path).status().code(); }
  void MakeDatabase() { std::ofstream(db_) << "content"; }

  TempFolder folder_;
  const std::string db_ = folder_.File("dataset.db");
  const std::string alias_ = folder_.File("alias.db");
};

TEST_F(LockFileTest, TheSecondIsKeptOutUntilTheFirstIsGone) {
  {
    absl::StatusOr<LockFile> first = LockFile::Acquire(db_);
    ASSERT_TRUE(first.ok()) << first.status();
    EXPECT_EQ(SecondThrough(db_), absl::StatusCode::kAlreadyExists);
    EXPECT_EQ(SecondThrough(folder_.File("./dataset.db")), absl::StatusCode::kAlreadyExists);
  }
  EXPECT_EQ(SecondThrough(db_), absl::StatusCode::kOk);
}

TEST_F(LockFileTest, ASymbolicLinkLeadsToTheSameLock) {
  MakeDatabase();
  std::filesystem::create_symlink(db_, alias_);
  absl::StatusOr<LockFile> first = LockFile::Acquire(db_);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(SecondThrough(alias_), absl::StatusCode::kAlreadyExists);
}

TEST_F(LockFileTest, SoDoesALinkToAFileThatIsYetToBeMade) {
  std::filesystem::create_symlink("dataset.db", alias_);
  absl::StatusOr<LockFile> first = LockFile::Acquire(alias_);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(SecondThrough(db_), absl::StatusCode::kAlreadyExists);
}

TEST_F(LockFileTest, AndALinkToTheFolder) {
  std::filesystem::create_directory(folder_.File("real"));
  std::filesystem::create_directory_symlink(folder_.File("real"), folder_.File("link"));
  absl::StatusOr<LockFile> first = LockFile::Acquire(folder_.File("real/dataset.db"));
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(SecondThrough(folder_.File("link/dataset.db")), absl::StatusCode::kAlreadyExists);
}

TEST_F(LockFileTest, AFileWithTwoNamesIsRefusedUnderBoth) {
  MakeDatabase();
  std::filesystem::create_hard_link(db_, alias_);
  for (const std::string& path : {db_, alias_}) {
    const absl::Status status = LockFile::Acquire(path).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), HasSubstr("hard links"));
  }
}

TEST_F(LockFileTest, LinksInACircleAreAnError) {
  std::filesystem::create_symlink("alias.db", db_);
  std::filesystem::create_symlink("dataset.db", alias_);
  EXPECT_FALSE(LockFile::Acquire(db_).ok());
}

TEST_F(LockFileTest, AMissingFolderIsNamed) {
  const absl::Status status = LockFile::Acquire(folder_.File("missing/dataset.db")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("missing"));
}

}  // namespace
}  // namespace telemetry::storage::sqlite
