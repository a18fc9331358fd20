#include "server/storage/sqlite/private_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "server/storage/sqlite/sqlite_store.h"
#include "server/storage/upkeep/backup.h"
#include "server/storage/upkeep/restore.h"
#include "tests/server/storage/dataset_story.h"
#include "tests/temp_folder.h"

namespace telemetry::storage::sqlite {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Pair;

class PrivateFileTest : public ::testing::Test {
 protected:
  // Sets the widest umask: new files are accessible to everybody.
  PrivateFileTest() : umask_(umask(0)) {}
  ~PrivateFileTest() override { umask(umask_); }

  std::string File(const std::string& name) const { return folder_.File(name); }
  // Returns the modes of the files, by name.
  std::map<std::string, int> Modes() const {
    std::map<std::string, int> modes;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.File(""))) {
      modes[entry.path().filename().string()] = static_cast<int>(entry.status().permissions());
    }
    return modes;
  }

 private:
  const mode_t umask_;
  const TempFolder folder_;
};

TEST_F(PrivateFileTest, FilesOfADatasetAndItsBackupsAreTheirOwners) {
  {
    const std::unique_ptr<StoreWriter> writer = *OpenSqliteWriter(File("a.db"));
    ASSERT_TRUE(writer->OpenProducer(std::string(16, 'p'), 1, "test").ok());
    const std::unique_ptr<StoreReader> reader = *OpenSqliteReader(File("a.db"));
    EXPECT_EQ(*reader->CountProducers(), 1u);
    ASSERT_TRUE(upkeep::BackUpDataset(File("a.db"), File("backup.db")).ok());
    EXPECT_THAT(Modes(), Contains(Key("a.db-wal")));
    EXPECT_THAT(Modes(), Contains(Key("a.db-shm")));
    EXPECT_THAT(Modes(), Contains(Key("a.db.acked")));
    EXPECT_THAT(Modes(), Each(Pair(testing::_, 0600)));
  }
  ASSERT_TRUE(upkeep::RestoreDataset(File("backup.db"), File("b.db"), absl::Now()).ok());
  EXPECT_THAT(Modes(), Contains(Key("b.db")));
  EXPECT_THAT(Modes(), Each(Pair(testing::_, 0600)));
}

TEST_F(PrivateFileTest, ALinkToNoFileYetLeadsToAPrivateOne) {
  std::filesystem::create_symlink("real.db", File("link.db"));
  ASSERT_TRUE(OpenSqliteWriter(File("link.db")).ok());
  EXPECT_THAT(Modes(), Contains(Pair("real.db", 0600)));
}

TEST_F(PrivateFileTest, AnotherProgramsFileStaysAsItIs) {
  std::ofstream(File("notes.csv")) << "kernel,ms\n";
  EXPECT_THAT(TightenDataset(File("notes.csv")), IsEmpty());
  EXPECT_THAT(Modes(), Contains(Pair("notes.csv", 0666)));
}

TEST_F(PrivateFileTest, WhatEverybodyMayOpenIsTightenedAndAChosenModeStays) {
  ASSERT_TRUE(OpenSqliteWriter(File("a.db")).ok());
  ASSERT_EQ(chmod(File("a.db").c_str(), 0644), 0);
  ASSERT_EQ(chmod(File("a.db.lock").c_str(), 0640), 0);
  EXPECT_THAT(TightenDataset(File("a.db")), testing::ElementsAre(testing::EndsWith("/a.db")));
  EXPECT_THAT(Modes(), Contains(Pair("a.db", 0600)));
  EXPECT_THAT(Modes(), Contains(Pair("a.db.lock", 0640)));
  EXPECT_THAT(TightenDataset(File("a.db")), IsEmpty());
}

}  // namespace
}  // namespace telemetry::storage::sqlite
