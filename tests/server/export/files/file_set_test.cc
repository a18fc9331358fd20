#include "server/export/files/file_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "server/export/files/output_file.h"
#include "server/export/snapshot.h"
#include "tests/server/export/sample_dataset.h"
#include "tests/temp_folder.h"

namespace telemetry::exporter::files {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(FileSet, NothingHasItsNameBeforePublish) {
  TempFolder folder;
  auto files = FileSet::Create(folder.File("data"), Compression::kNone);
  ASSERT_TRUE(files.ok()) << files.status();
  ASSERT_TRUE((*files)->Append(".csv", "a,b\r\n").ok());
  ASSERT_TRUE((*files)->Finish().ok());
  EXPECT_FALSE(folder.Names().contains("data.csv"));
  ASSERT_TRUE((*files)->Publish("{}\n").ok());
  EXPECT_EQ(ReadFile(folder.File("data.csv")), "a,b\r\n");
  EXPECT_EQ(ReadFile(folder.File("data.snapshot.json")), "{}\n");
  EXPECT_EQ(folder.Names().size(), 2u);
}

TEST(FileSet, ASetThatIsNotPublishedLeavesNothing) {
  TempFolder folder;
  {
    auto files = FileSet::Create(folder.File("data"), Compression::kNone);
    ASSERT_TRUE((*files)->Append(".csv", "a").ok());
  }
  EXPECT_THAT(folder.Names(), IsEmpty());
}

TEST(FileSet, AFolderInTheWayOfOneFileKeepsAllFromTheirNames) {
  for (const std::string in_the_way : {"data.csv", "data.snapshot.json"}) {
    TempFolder folder;
    std::filesystem::create_directory(folder.File(in_the_way));
    auto files = FileSet::Create(folder.File("data"), Compression::kNone);
    ASSERT_TRUE(files.ok()) << files.status();
    ASSERT_TRUE((*files)->Append(".attempts.jsonl", "a").ok());
    absl::Status status = (*files)->Append(".csv", "a");
    if (status.ok()) status = (*files)->Finish().status();
    if (status.ok()) status = (*files)->Publish("{}");
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), HasSubstr(in_the_way + " is a folder"));
    files->reset();
    EXPECT_THAT(folder.Names(), testing::ElementsAre(in_the_way));
  }
}

absl::Status Export(const std::string& base, const std::string& suffix, bool force = false) {
  auto files = FileSet::Create(base, Compression::kNone, force);
  if (!files.ok()) return files.status();
  if (absl::Status status = (*files)->Append(suffix, "exported"); !status.ok()) return status;
  auto written = (*files)->Finish();
  return written.ok() ? (*files)->Publish(FormatSnapshot({.files = *written})) : written.status();
}

void Write(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

TEST(FileSet, AnEarlierExportIsReplaced) {
  TempFolder folder;
  ASSERT_TRUE(Export(folder.File("data"), ".csv").ok());
  EXPECT_TRUE(Export(folder.File("data"), ".csv").ok());
  EXPECT_TRUE(Export(folder.File("data"), ".jsonl").ok());
}

TEST(FileSet, AFileThatNoExportMadeStays) {
  for (const std::string name : {"data.csv", "data.snapshot.json"}) {
    TempFolder folder;
    Write(folder.File(name), "precious");
    const absl::Status status = Export(folder.File("data"), ".csv");
    EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
    EXPECT_THAT(std::string(status.message()), HasSubstr(name + " is not from an earlier export"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("--force"));
    EXPECT_THAT(folder.Names(), testing::ElementsAre(name));
    EXPECT_EQ(ReadFile(folder.File(name)), "precious");
    EXPECT_TRUE(Export(folder.File("data"), ".csv", /*force=*/true).ok());
    EXPECT_EQ(ReadFile(folder.File("data.csv")), "exported");
  }
}

TEST(FileSet, AFileThatCameBesideAnEarlierExportStays) {
  TempFolder folder;
  ASSERT_TRUE(Export(folder.File("data"), ".csv").ok());
  Write(folder.File("data.ir.jsonl"), "precious");
  EXPECT_EQ(Export(folder.File("data"), ".ir.jsonl").code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(ReadFile(folder.File("data.ir.jsonl")), "precious");
  EXPECT_EQ(ReadFile(folder.File("data.csv")), "exported");
}

TEST(FileSet, AFileThatComesWhileTheExportIsWrittenStays) {
  TempFolder folder;
  auto files = FileSet::Create(folder.File("data"), Compression::kNone);
  ASSERT_TRUE((*files)->Append(".csv", "new").ok());
  Write(folder.File("data.csv"), "precious");
  ASSERT_TRUE((*files)->Finish().ok());
  EXPECT_EQ((*files)->Publish("{}").code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(ReadFile(folder.File("data.csv")), "precious");
}

TEST(FileSet, WhatAnInterruptedExportLeftIsWrittenOver) {
  TempFolder folder;
  std::filesystem::create_directories(folder.File(""));
  for (const char* name : {"data.csv.partial", "data.snapshot.json.partial"}) {
    auto leftover = OutputFile::Create(folder.File(name), Compression::kNone);
    ASSERT_TRUE((*leftover)->Append("the long rest of an export that was killed").ok());
  }
  auto files = FileSet::Create(folder.File("data"), Compression::kNone);
  ASSERT_TRUE(files.ok()) << files.status();
  ASSERT_TRUE((*files)->Append(".csv", "new").ok());
  ASSERT_TRUE((*files)->Finish().ok());
  ASSERT_TRUE((*files)->Publish("{}").ok());
  EXPECT_EQ(ReadFile(folder.File("data.csv")), "new");
  EXPECT_EQ(ReadFile(folder.File("data.snapshot.json")), "{}");
}

TEST(FileSet, ASecondExportOfTheSameBaseIsKeptOut) {
  TempFolder folder;
  auto first = FileSet::Create(folder.File("data"), Compression::kNone);
  ASSERT_TRUE(first.ok());
  auto second = FileSet::Create(folder.File("data"), Compression::kNone);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(FileSet::Create(folder.File("other"), Compression::kNone).ok());
  first->reset();
  EXPECT_TRUE(FileSet::Create(folder.File("data"), Compression::kNone).ok());
}

TEST(FileSet, AFolderIsNoBase) {
  TempFolder folder;
  EXPECT_EQ(FileSet::Create(folder.File(""), Compression::kNone).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(FileSet, AMissingFolderIsNamed) {
  TempFolder folder;
  absl::Status status = FileSet::Create(folder.File("missing/data"), Compression::kNone).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("missing/data"));
}

TEST(OutputFile, AFullDiskIsResourceExhausted) {
  auto file = OutputFile::Create("/dev/full", Compression::kNone);
  ASSERT_TRUE(file.ok()) << file.status();
  absl::Status status = (*file)->Append("x");
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/dev/full"));
}

TEST(OutputFile, FollowsNoSymbolicLink) {
  TempFolder folder;
  std::filesystem::create_symlink("/dev/null", folder.File("data.csv.partial"));
  EXPECT_FALSE(OutputFile::Create(folder.File("data.csv.partial"), Compression::kNone).ok());
}

}  // namespace
}  // namespace telemetry::exporter::files
