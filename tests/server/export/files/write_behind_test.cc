#include "server/export/files/write_behind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/server/export/sample_dataset.h"
#include "tests/temp_folder.h"

namespace telemetry::exporter::files {
namespace {

TEST(WriteBehind, KeepsTheOrderOfEachFile) {
  TempFolder folder;
  auto files = FileSet::Create(folder.File("data"), Compression::kNone);
  ASSERT_TRUE(files.ok());
  std::string rows;
  std::string records;
  {
    WriteBehind writer(files->get());
    std::string text;
    for (int i = 0; i < 1000; ++i) {
      text += std::to_string(i) + "\n";
      (i % 2 == 0 ? rows : records) += text;
      ASSERT_TRUE(writer.Push(i % 2 == 0 ? ".csv" : ".meta.jsonl", &text).ok());
      ASSERT_TRUE(text.empty());
    }
    ASSERT_TRUE(writer.Finish().ok());
  }
  ASSERT_TRUE((*files)->Finish().ok());
  ASSERT_TRUE((*files)->Publish("{}").ok());
  EXPECT_EQ(ReadFile(folder.File("data.csv")), rows);
  EXPECT_EQ(ReadFile(folder.File("data.meta.jsonl")), records);
}

TEST(WriteBehind, AFailedWriteReachesThePusher) {
  TempFolder folder;
  std::filesystem::create_directory(folder.File("data.csv.partial"));  // cannot be opened as a file
  auto files = FileSet::Create(folder.File("data"), Compression::kNone);
  ASSERT_TRUE(files.ok());
  WriteBehind writer(files->get());
  absl::Status status;
  while (status.ok()) {  // ends: the queue is bounded, and a Push after the failure returns it
    std::string text = "x";
    status = writer.Push(".csv", &text);
  }
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("data.csv.partial"));
  EXPECT_EQ(writer.Finish(), status);
}

TEST(WriteBehind, CanBeGivenUpAtAnyTime) {
  TempFolder folder;
  auto files = FileSet::Create(folder.File("data"), Compression::kNone);
  ASSERT_TRUE(files.ok());
  WriteBehind writer(files->get());
  std::string text = "x";
  ASSERT_TRUE(writer.Push(".csv", &text).ok());
}

}  // namespace
}  // namespace telemetry::exporter::files
