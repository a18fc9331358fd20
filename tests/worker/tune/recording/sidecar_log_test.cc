#include "worker/tune/recording/sidecar_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "proto/record/ids.h"
#include "proto/record/python_literal.h"
#include "proto/record/sidecar/csv_parser.h"
#include "tests/file_size_limit.h"
#include "tests/worker/tune/recording/sample_attempt.h"

namespace telemetry::worker::tune::recording {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kHeader[] = "run_id,timestamp_s,config_id,generation,status,perf_ms,compile_time_s,config\r\n";
constexpr char kSourcesHeader[] = "run_id,timestamp_s,config_id,generation,status,source_hash\r\n";

record::sidecar::Row RowAt(double timestamp_s, const std::string& source_hash = "") {
  record::sidecar::Row row;
  row.run_id = std::string(64, 'a');
  row.timestamp_s = timestamp_s;
  row.config_id = SampleConfig(4).id();
  row.status = "ok";
  row.perf_ms = 0.5;
  row.config_text = "Config(indexing=['pointer'], num_warps=4)";
  row.source_hash = source_hash;
  return row;
}

std::string Line(const record::sidecar::Row& row,
                 record::sidecar::Dialect dialect = record::sidecar::Dialect::kHelion) {
  std::string line;
  record::sidecar::AppendRow(dialect, row, &line);
  return line;
}

class SidecarLogTest : public testing::Test {
 protected:
  std::unique_ptr<SidecarLog> Open() {
    auto log = SidecarLog::Open(
        {.base = folder_.File("tune"), .on_notice = [this](const std::string& text) { notices_.push_back(text); }});
    EXPECT_TRUE(log.ok()) << log.status();
    return *std::move(log);
  }
  std::string Text(const std::string& name) const { return ReadFile(folder_.File(name)); }
  void Write(const std::string& name, const std::string& text) const { WriteFile(folder_.File(name), text); }

  TempFolder folder_;
  std::vector<std::string> notices_;
};

TEST_F(SidecarLogTest, TheHeaderStandsOnceHoweverOftenTheLogIsOpened) {
  for (int time = 0; time < 3; ++time) ASSERT_TRUE(Open()->Append(RowAt(time, "0123456789")).ok());
  EXPECT_EQ(Text("tune.csv"), kHeader + Line(RowAt(0)) + Line(RowAt(1)) + Line(RowAt(2)));
  std::string sources = kSourcesHeader;
  for (int time = 0; time < 3; ++time) {
    sources += Line(RowAt(time, "0123456789"), record::sidecar::Dialect::kHelionSources);
  }
  EXPECT_EQ(Text("tune.sources.csv"), sources);
  EXPECT_THAT(notices_, IsEmpty());
}

TEST_F(SidecarLogTest, WithoutHashesThereIsNoFileForThem) {
  ASSERT_TRUE(Open()->Append(RowAt(1)).ok());
  EXPECT_FALSE(std::filesystem::exists(folder_.File("tune.sources.csv")));
}

// Appends rows of one process. The timestamps contain the process's number.
int AppendRows(const std::string& base, int process, int rows) {
  const auto log = SidecarLog::Open({.base = base, .on_notice = {}});
  if (!log.ok()) return 1;
  for (int i = 0; i < rows; ++i) {
    if (!(*log)->Append(RowAt(process * 1000 + i, i % 2 == 0 ? "0123456789" : "")).ok()) return 2;
  }
  return (*log)->AppendRecord(SampleAttempt().run, nullptr, {}).ok() ? 0 : 3;
}

TEST_F(SidecarLogTest, ManyProcessesAtOnceWriteWholeLines) {
  constexpr int kProcesses = 8;
  constexpr int kRows = 200;
  for (int process = 0; process < kProcesses; ++process) {
    if (fork() == 0) _exit(AppendRows(folder_.File("tune"), process, kRows));
  }
  for (int process = 0; process < kProcesses; ++process) {
    int status = -1;
    wait(&status);
    EXPECT_EQ(status, 0);
  }
  record::sidecar::CsvParser csv;
  std::vector<record::sidecar::CsvParser::Item> items;
  csv.Feed(Text("tune.csv"), &items);
  csv.Finish(&items);
  std::set<double> times;
  for (size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(items[i].kind,
              i == 0 ? record::sidecar::CsvParser::Kind::kHeader : record::sidecar::CsvParser::Kind::kRow)
        << i;
    if (i > 0) times.insert(items[i].row.timestamp_s);
  }
  EXPECT_EQ(times.size(), size_t{kProcesses} * kRows);
  const std::string sources = Text("tune.sources.csv");
  EXPECT_EQ(std::count(sources.begin(), sources.end(), '\n'), 1 + kProcesses * kRows / 2);
  const std::string records = Text("tune.meta.jsonl");
  EXPECT_EQ(std::count(records.begin(), records.end(), '\n'), kProcesses);
}

TEST_F(SidecarLogTest, FilesWithAnotherHeaderAreLeftAloneAndThatIsSaid) {
  const std::string old_rows = "timestamp_s,config_index,generation,status,perf_ms,compile_time_s,config\r\n1,2\r\n";
  Write("tune.csv", old_rows);
  Write("tune-2.csv", kHeader);
  Write("tune-2.sources.csv", "run_id,something_newer\r\n");
  const auto log = Open();
  EXPECT_EQ(log->base(), folder_.File("tune-3"));
  ASSERT_EQ(notices_.size(), 1u);
  EXPECT_THAT(notices_[0], HasSubstr("tune-3.csv"));
  ASSERT_TRUE(log->Append(RowAt(1)).ok());
  ASSERT_TRUE(log->AppendRecord(SampleAttempt().run, nullptr, {}).ok());
  EXPECT_EQ(Text("tune.csv"), old_rows);
  EXPECT_EQ(Text("tune-2.csv"), kHeader);
  EXPECT_EQ(Text("tune-3.csv"), kHeader + Line(RowAt(1)));
  EXPECT_NE(Text("tune-3.meta.jsonl"), "");
  EXPECT_FALSE(std::filesystem::exists(folder_.File("tune.meta.jsonl")));
}

TEST_F(SidecarLogTest, WhatAKilledProcessLeftIsEndedFirst) {
  Write("tune.csv", std::string(kHeader) + "aaaa,0.5");
  Write("tune.sources.csv", "run_id,timest");  // even the header is incomplete
  Write("tune.meta.jsonl", R"({"run_id": )");
  const auto log = Open();
  ASSERT_TRUE(log->Append(RowAt(1, "0123456789")).ok());
  ASSERT_TRUE(log->AppendRecord(SampleAttempt().run, nullptr, {}).ok());
  EXPECT_EQ(Text("tune.csv"), std::string(kHeader) + "aaaa,0.5\r\n" + Line(RowAt(1)));
  EXPECT_EQ(Text("tune.sources.csv"),
            kSourcesHeader + Line(RowAt(1, "0123456789"), record::sidecar::Dialect::kHelionSources));
  EXPECT_THAT(Text("tune.meta.jsonl"), testing::StartsWith("{\"run_id\": \n{\"run_id\": \""));
  EXPECT_THAT(notices_, IsEmpty());
}

TEST_F(SidecarLogTest, AHeaderWithUnixLineEndsIsAHeader) {
  Write("tune.csv", std::string(kHeader).replace(sizeof(kHeader) - 3, 2, "\n"));
  EXPECT_EQ(Open()->base(), folder_.File("tune"));
}

TEST_F(SidecarLogTest, AFullDiskTakesAllOfARowOrNothing) {
  const auto log = Open();
  ASSERT_TRUE(log->Append(RowAt(1, "0123456789")).ok());
  // The hash is so long that the second limit affects only the write to the sources file.
  const std::string hash(2000, 'a');
  const std::string csv = Text("tune.csv");
  const std::string sources = Text("tune.sources.csv");
  for (const size_t room : {csv.size() + 10, csv.size() + 500}) {
    const FileSizeLimit limit(room);
    const absl::Status status = log->Append(RowAt(2, hash));
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    EXPECT_EQ(Text("tune.csv"), csv);
    EXPECT_EQ(Text("tune.sources.csv"), sources);
  }
  ASSERT_TRUE(log->Append(RowAt(2, hash)).ok());
  EXPECT_EQ(Text("tune.csv"), csv + Line(RowAt(2)));
}

TEST_F(SidecarLogTest, FilesThatWereMovedAwayAreBegunAnew) {
  const auto log = Open();
  ASSERT_TRUE(log->Append(RowAt(1, "0123456789")).ok());
  for (const char* name : {"tune.csv", "tune.sources.csv"}) {
    std::filesystem::rename(folder_.File(name), folder_.File(std::string("old.") + name));
  }
  ASSERT_TRUE(log->Append(RowAt(2, "0123456789")).ok());
  EXPECT_EQ(Text("old.tune.csv"), kHeader + Line(RowAt(1)));
  EXPECT_EQ(Text("tune.csv"), kHeader + Line(RowAt(2)));
  EXPECT_THAT(Text("tune.sources.csv"), testing::StartsWith(kSourcesHeader));
}

TEST_F(SidecarLogTest, MissingRowsAreAddedAndOthersNot) {
  ASSERT_TRUE(Open()->Append(RowAt(1, "0123456789")).ok());
  ASSERT_TRUE(Open()->Append(RowAt(2)).ok());  // its hash was not written
  const auto log = Open();
  for (const auto& row : {RowAt(1, "0123456789"), RowAt(2, "0123456789"), RowAt(2), RowAt(3)}) {
    ASSERT_TRUE(log->AppendMissing(row).ok());
  }
  // Equal rows count separately.
  EXPECT_EQ(Text("tune.csv"), kHeader + Line(RowAt(1)) + Line(RowAt(2)) + Line(RowAt(2)) + Line(RowAt(3)));
  EXPECT_EQ(Text("tune.sources.csv"), kSourcesHeader +
                                          Line(RowAt(1, "0123456789"), record::sidecar::Dialect::kHelionSources) +
                                          Line(RowAt(2, "0123456789"), record::sidecar::Dialect::kHelionSources));
}

TEST_F(SidecarLogTest, ABaseMayBeGivenAsItsCsvAndInAFolderToBeMade) {
  const auto log = SidecarLog::Open({.base = folder_.File("new/folder/v1.1.0-tune.csv"), .on_notice = {}});
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_EQ((*log)->base(), folder_.File("new/folder/v1.1.0-tune"));
  EXPECT_EQ(Text("new/folder/v1.1.0-tune.csv"), kHeader);
}

TEST_F(SidecarLogTest, ABaseThatCannotBeIsRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(SidecarLog::Open({.base = folder_.File(""), .on_notice = {}}).status()));
  Write("file", "");
  const absl::Status status = SidecarLog::Open({.base = folder_.File("file/tune"), .on_notice = {}}).status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr(folder_.File("file")));
}

}  // namespace
}  // namespace telemetry::worker::tune::recording
