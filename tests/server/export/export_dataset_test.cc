#include "server/export/export_dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "proto/record/ids.h"
#include "proto/record/json.h"
#include "tests/file_size_limit.h"
#include "tests/server/export/memory_dataset.h"
#include "tests/server/export/sample_dataset.h"
#include "tests/temp_folder.h"

namespace telemetry::exporter {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ExportDatasetTest : public testing::Test {
 protected:
  ExportDatasetTest() {
    dataset_.Run(SoftmaxRun('1')).Attempt('A');
    for (int i = 0; i < 100; ++i) {
      dataset_.Add({.config_text = "Config(num_warps=4)", .status = "ok", .timestamp_s = 1.0 * i, .perf_ms = 0.25});
    }
  }

  ExportOptions Options(const std::string& name = "data") const {
    ExportOptions options;
    options.base = folder_.File(name);
    return options;
  }

  absl::Status Export(const ExportOptions& options) { return ExportDataset(dataset_.Source(), options).status(); }

  std::string Read(const std::string& name) const { return ReadFile(folder_.File(name)); }

  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.File(name), std::ios::binary) << text;
  }

  TempFolder folder_;
  MemoryDataset dataset_;
};

TEST_F(ExportDatasetTest, WritesTheFilesOfTheLayoutAndNothingElse) {
  ASSERT_TRUE(Export(Options()).ok());
  EXPECT_THAT(folder_.Names(), ElementsAre("data.attempts.jsonl", "data.csv", "data.meta.jsonl", "data.snapshot.json"));
}

TEST_F(ExportDatasetTest, TheSnapshotVouchesForTheFiles) {
  for (files::Compression compression :
       {files::Compression::kNone, files::Compression::kGzip, files::Compression::kZstd}) {
    ExportOptions options = Options();
    options.compression = compression;
    ASSERT_TRUE(Export(options).ok());
    absl::StatusOr<record::Json> snapshot = record::ParseJson(Read("data.snapshot.json").substr(0, std::string::npos));
    ASSERT_TRUE(snapshot.ok()) << snapshot.status();
    EXPECT_EQ(snapshot->Find("format_version")->text, "1");
    EXPECT_EQ(snapshot->Find("compression")->text, files::CompressionName(compression));
    EXPECT_EQ(snapshot->Find("counts")->Find("measurements")->text, "100");
    ASSERT_EQ(snapshot->Find("files")->items.size(), 3u);
    for (const record::Json& file : snapshot->Find("files")->items) {
      const std::string bytes = Read(file.Find("name")->text);
      EXPECT_EQ(file.Find("size_bytes")->text, std::to_string(bytes.size()));
      EXPECT_EQ(file.Find("sha256")->text, record::Sha256Hex(bytes));
    }
  }
}

TEST_F(ExportDatasetTest, TheFilterReachesTheSourceAndTheSnapshot) {
  ExportOptions options = Options();
  options.filter.set_kernel_name("softmax");
  options.filter.set_hardware("NVIDIA H200");
  options.filter.set_run_id("1111");
  options.filter.set_status("ok");
  options.filter.set_since_unix_us(1'700'000'000'000'000);
  options.filter.set_attempts(v1::Filter::ATTEMPTS_BEST);
  ASSERT_TRUE(Export(options).ok());
  EXPECT_EQ(dataset_.asked().filter().SerializeAsString(), options.filter.SerializeAsString());
  const std::string snapshot = Read("data.snapshot.json");
  EXPECT_THAT(snapshot, HasSubstr("\"kernel\": \"softmax\""));
  EXPECT_THAT(snapshot, HasSubstr("\"hardware\": \"NVIDIA H200\""));
  EXPECT_THAT(snapshot, HasSubstr("\"run\": \"1111\""));
  EXPECT_THAT(snapshot, HasSubstr("\"status\": \"ok\""));
  EXPECT_THAT(snapshot, HasSubstr("\"since\": \"2023-11-14T22:13:20.000000Z\""));
  EXPECT_THAT(snapshot, HasSubstr("\"attempts\": \"best\""));
}

TEST_F(ExportDatasetTest, DetailsAreWrittenWhereTheyAreAskedFor) {
  ASSERT_TRUE(Export(Options()).ok());
  EXPECT_THAT(folder_.Names(), Not(Contains("data.details.jsonl")));
  EXPECT_THAT(Read("data.snapshot.json"), Not(HasSubstr("\"details\"")));
  EXPECT_FALSE(dataset_.asked().details());
  ExportOptions options = Options();
  options.details = true;
  ASSERT_TRUE(Export(options).ok());
  EXPECT_TRUE(dataset_.asked().details());
  EXPECT_THAT(folder_.Names(), Contains("data.details.jsonl"));  // an empty file, because there are no details
  EXPECT_THAT(Read("data.snapshot.json"), HasSubstr("\"details\": 0"));
  EXPECT_THAT(Read("data.snapshot.json"), HasSubstr("\"name\": \"data.details.jsonl\""));
  ASSERT_TRUE(Export(Options()).ok());
  EXPECT_THAT(folder_.Names(), Not(Contains("data.details.jsonl")));
}

TEST_F(ExportDatasetTest, TheSameDatasetGivesTheSameBytes) {
  for (files::Compression compression :
       {files::Compression::kNone, files::Compression::kGzip, files::Compression::kZstd}) {
    TempFolder other;
    ExportOptions first = Options();
    first.compression = compression;
    ExportOptions second = first;
    second.base = other.File("data");
    ASSERT_TRUE(ExportDataset(dataset_.Source(1000), first).ok());
    ASSERT_TRUE(ExportDataset(dataset_.Source(3), second).ok());
    for (const std::string& name : other.Names()) EXPECT_EQ(Read(name), ReadFile(other.File(name))) << name;
  }
}

TEST_F(ExportDatasetTest, ASourceThatFailsLeavesTheEarlierExportAsItWas) {
  ASSERT_TRUE(Export(Options()).ok());
  const auto names = folder_.Names();
  const std::string csv = Read("data.csv");
  const std::string snapshot = Read("data.snapshot.json");
  int items = 0;
  const DatasetSource failing = [&](const v1::ExportRequest& request, const ItemSink& sink) {
    return dataset_.Source(10)(request, [&](const v1::ExportItem& item) {
      return ++items > 6 ? absl::UnavailableError("the collector went away") : sink(item);
    });
  };
  EXPECT_EQ(ExportDataset(failing, Options()).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(folder_.Names(), names);
  EXPECT_EQ(Read("data.csv"), csv);
  EXPECT_EQ(Read("data.snapshot.json"), snapshot);
}

TEST_F(ExportDatasetTest, ASelectionWithoutRowsLeavesTheEarlierExportAsItWas) {
  ASSERT_TRUE(Export(Options()).ok());
  const auto names = folder_.Names();
  const std::string csv = Read("data.csv");
  const std::string snapshot = Read("data.snapshot.json");
  const DatasetSource without_rows = [](const v1::ExportRequest&, const ItemSink& sink) {
    v1::ExportItem item;
    item.mutable_filter_values()->add_kernel_names("softmax");
    return sink(item);
  };
  ExportOptions options = Options();
  options.filter.set_kernel_name("sofmax");
  const absl::Status status = ExportDataset(without_rows, options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("did you mean 'softmax'?"));
  EXPECT_EQ(folder_.Names(), names);
  EXPECT_EQ(Read("data.csv"), csv);
  EXPECT_EQ(Read("data.snapshot.json"), snapshot);
  options.allow_empty = true;
  ASSERT_TRUE(ExportDataset(without_rows, options).ok());
  EXPECT_THAT(Read("data.snapshot.json"), HasSubstr("\"measurements\": 0"));
}

TEST_F(ExportDatasetTest, AFileThatNoExportMadeIsReplacedOnlyByForce) {
  Write("data.csv", "my own table");
  ExportOptions options = Options();
  EXPECT_EQ(Export(options).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(folder_.Names(), ElementsAre("data.csv"));
  EXPECT_EQ(Read("data.csv"), "my own table");
  options.force = true;
  ASSERT_TRUE(Export(options).ok());
  EXPECT_THAT(Read("data.csv"), testing::StartsWith("run_id,"));
}

TEST_F(ExportDatasetTest, ADiskThatTakesNoMoreLeavesTheEarlierExportAsItWas) {
  ASSERT_TRUE(Export(Options()).ok());
  const auto names = folder_.Names();
  const std::string csv = Read("data.csv");
  for (int i = 0; i < 5000; ++i) dataset_.Add({.timestamp_s = 1.0 * i});
  absl::Status status;
  {
    FileSizeLimit limit(csv.size() + 1);
    status = Export(Options());
  }
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("data.csv.partial"));
  EXPECT_EQ(folder_.Names(), names);
  EXPECT_EQ(Read("data.csv"), csv);
}

TEST_F(ExportDatasetTest, AFirstExportThatFailsLeavesNothing) {
  const DatasetSource failing = [](const v1::ExportRequest&, const ItemSink&) {
    return absl::NotFoundError("no database");
  };
  EXPECT_FALSE(ExportDataset(failing, Options()).ok());
  EXPECT_THAT(folder_.Names(), IsEmpty());
}

TEST_F(ExportDatasetTest, AnExportThatIsStoppedLeavesNothing) {
  ExportOptions options = Options();
  std::stop_source stop;
  options.stop = stop.get_token();
  options.on_progress = [&stop](uint64_t done, uint64_t /*total*/) {
    if (done > 0) stop.request_stop();
  };
  EXPECT_EQ(ExportDataset(dataset_.Source(10), options).status().code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(folder_.Names(), IsEmpty());
}

TEST_F(ExportDatasetTest, FilesOfTheEarlierExportThatThisOneLacksAreRemoved) {
  Write("data.log", "not ours");
  Write("data.csv.gz", "not ours either: no snapshot names it");
  ExportOptions zstd = Options();
  zstd.compression = files::Compression::kZstd;
  ASSERT_TRUE(Export(zstd).ok());
  ASSERT_TRUE(folder_.Names().contains("data.csv.zst"));
  ASSERT_TRUE(Export(Options()).ok());
  EXPECT_THAT(folder_.Names(), ElementsAre("data.attempts.jsonl", "data.csv", "data.csv.gz", "data.log",
                                           "data.meta.jsonl", "data.snapshot.json"));
}

TEST_F(ExportDatasetTest, ASnapshotThatNamesForeignFilesRemovesNone) {
  Write("other.csv", "precious");
  Write("data.snapshot.json",
        R"({"files": [{"name": "other.csv"}, {"name": "../data.csv"}, {"name": 3}, {"name": "data.gone"}]})");
  ASSERT_TRUE(Export(Options()).ok());
  EXPECT_EQ(Read("other.csv"), "precious");
}

TEST_F(ExportDatasetTest, ProgressReachesTheTotal) {
  ExportOptions options = Options();
  uint64_t last = 0;
  options.on_progress = [&](uint64_t done, uint64_t total) {
    EXPECT_EQ(total, 100u);
    EXPECT_GE(done, last);
    last = done;
  };
  ASSERT_TRUE(ExportDataset(dataset_.Source(7), options).ok());
  EXPECT_EQ(last, 100u);
}

TEST(BaseOfPath, LeavesOutTheSuffixOfTheRows) {
  EXPECT_EQ(BaseOfPath("out/softmax.csv"), "out/softmax");
  EXPECT_EQ(BaseOfPath("out/v1.1.0-softmax"), "out/v1.1.0-softmax");
}

}  // namespace
}  // namespace telemetry::exporter
