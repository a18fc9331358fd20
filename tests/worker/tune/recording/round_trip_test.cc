// Tests that live records and the forwarded log of the same attempt give the same dataset.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "server/export/export_dataset.h"
#include "tests/server/storage/dataset_story.h"
#include "tests/worker/tune/recording/memory_producer.h"
#include "tests/worker/tune/recording/sample_attempt.h"
#include "worker/forward/forward.h"

namespace telemetry::worker::tune::recording {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

using Files = std::map<std::string, std::string>;  // by the suffix after the base name

std::vector<v1::Record> Forwarded(const std::string& path) {
  std::vector<v1::Record> records;
  forward::ForwardOptions options;
  options.paths = {path};
  options.origin = "github:acme/kernels/17";
  const absl::StatusOr<forward::ForwardResult> result =
      forward::ForwardOnce(options, [&records](const v1::Record& record) {
        records.push_back(record);
        return absl::OkStatus();
      });
  EXPECT_TRUE(result.ok()) << result.status();
  if (!result.ok()) return records;
  EXPECT_THAT(result->problems, IsEmpty());
  EXPECT_EQ(result->counts.rejects, 0u);
  return records;
}

Files Export(const storage::DatasetStory& story, exporter::render::Layout layout) {
  TempFolder folder;
  exporter::ExportOptions options;
  options.base = folder.File("data");
  options.layout = layout;
  options.details = true;
  const auto result = exporter::ExportDataset(exporter::FromDatabase(story.path()), options);
  EXPECT_TRUE(result.ok()) << result.status();
  Files files;
  for (const auto& entry : std::filesystem::directory_iterator(folder.File(""))) {
    files[entry.path().filename().string().substr(4)] = ReadFile(entry.path().string());
  }
  return files;
}

class RoundTripTest : public testing::Test {
 protected:
  AttemptSinks Sinks() { return {.producer = &producer_, .log = log_.get()}; }
  std::string LogFile(const std::string& suffix) const { return ReadFile(folder_.File("tune" + suffix)); }

  TempFolder folder_;
  MemoryProducer producer_;
  std::unique_ptr<SidecarLog> log_ = SidecarLog::Open({.base = folder_.File("tune"), .on_notice = {}}).value();
};

TEST_F(RoundTripTest, TheLogIsWhatAnExportOfTheLiveRecordsWrites) {
  RecordWhole(SampleAttempt(), SampleRows(), Sinks());
  storage::DatasetStory live;
  EXPECT_THAT(live.Send(producer_.records()).refused, IsEmpty());
  const Files exported = Export(live, exporter::render::Layout::kHelion);
  for (const char* suffix : {".csv", ".sources.csv", ".meta.jsonl", ".wrapper.jsonl"})
    EXPECT_EQ(exported.at(suffix), LogFile(suffix));
}

TEST_F(RoundTripTest, TheLogForwardsToTheDatasetOfTheLiveRecords) {
  RecordWhole(SampleAttempt(), SampleRows(), Sinks());
  storage::DatasetStory live;
  live.Send(producer_.records());
  storage::DatasetStory forwarded;
  EXPECT_THAT(forwarded.Send(Forwarded(folder_.File("tune"))).refused, IsEmpty());
  EXPECT_EQ(forwarded.Query("SELECT count(*) FROM attempts"), "1");
  for (const exporter::render::Layout layout : {exporter::render::Layout::kHelion, exporter::render::Layout::kPr2750}) {
    Files expected = Export(live, layout);
    Files got = Export(forwarded, layout);
    for (const char* suffix : {".csv", ".sources.csv", ".meta.jsonl", ".ir.jsonl", ".wrapper.jsonl"}) {
      EXPECT_EQ(got[suffix], expected[suffix]) << suffix;
    }
  }
}

TEST_F(RoundTripTest, DetailsAndFailuresAreExported) {
  RecordWhole(SampleAttempt(), SampleRows(), Sinks());
  storage::DatasetStory live;
  live.Send(producer_.records());
  const std::string details = Export(live, exporter::render::Layout::kHelion).at(".details.jsonl");
  EXPECT_EQ(std::count(details.begin(), details.end(), '\n'), 6);  // three successful rows, three failed rows
  EXPECT_THAT(details, HasSubstr(R"("samples_ms": [0.0317761234])"));
  EXPECT_THAT(details, HasSubstr(R"("failure": {"phase": "compile", "error_class": null, "code": null, )"
                                 R"("message": "it went wrong")"));
}

TEST_F(RoundTripTest, SendingAnAttemptAgainChangesNothing) {
  RecordWhole(SampleAttempt(), SampleRows(), Sinks());
  storage::DatasetStory live;
  live.Send(producer_.records());
  const std::string before = live.Export();
  EXPECT_THAT(live.Send(producer_.records()).refused, IsEmpty());
  EXPECT_EQ(live.Export(), before);
}

TEST_F(RoundTripTest, SeveralAttemptsInOneLogForwardToAllOfTheirRows) {
  const auto one = AttemptRecorder::Create(SampleAttempt('x'), Sinks()).value();
  const auto other = AttemptRecorder::Create(SampleAttempt('y'), Sinks()).value();
  std::vector<AttemptRow> later = SampleRows();
  for (AttemptRow& row : later) row.timestamp_s += 0.02;
  const std::vector<AttemptRow> rows = SampleRows();
  for (size_t i = 0; i < rows.size(); ++i) {
    ASSERT_TRUE(one->Rows({rows[i]}).ok());
    ASSERT_TRUE(other->Rows({later[i]}).ok());
  }
  for (const auto& recorder : {one.get(), other.get()}) {
    ASSERT_TRUE(recorder->End(v1::Attempt::STATE_COMPLETE, record::Json::Object()).ok());
  }
  storage::DatasetStory forwarded;
  EXPECT_THAT(forwarded.Send(Forwarded(folder_.File("tune"))).refused, IsEmpty());
  EXPECT_EQ(forwarded.Query("SELECT count(*) FROM measurements"), std::to_string(2 * rows.size()));
  EXPECT_EQ(forwarded.Query("SELECT count(*) FROM source_hashes"), "6");
  EXPECT_EQ(forwarded.Query("SELECT count(*) FROM runs"), "1");
}

}  // namespace
}  // namespace telemetry::worker::tune::recording
