#include "worker/forward/group_forwarder.h"

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/record/ids.h"
#include "proto/record/sidecar/csv_parser.h"
#include "tests/worker/forward/model_dataset.h"
#include "tests/worker/forward/test_files.h"

namespace telemetry::worker::forward {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const IdentityFlags kSoftmaxTwoPass = {.kernel_name = "softmax_two_pass",
                                       .kernel_source = "def softmax_two_pass(x): ...\n",
                                       .input_shapes = "[(4096, 2560)]",
                                       .dtypes = "['torch.float16']",
                                       .hardware = "NVIDIA H200"};

// Returns the base paths of the samples. The v1.1 sample needs flags.
const std::vector<std::string>& SampleBases() {
  static const auto& bases = *new std::vector<std::string>{"helion-main/bmm",
                                                           "helion-main/rms_norm",
                                                           "helion-main/softmax",
                                                           "helion-pr2750/add",
                                                           "helion-pr2750/softmax",
                                                           "helion-pr2750/long_sum",
                                                           "helion-pr2699/softmax_two_pass",
                                                           "helion-v1.1/softmax_two_pass"};
  return bases;
}

class GroupForwarderTest : public ::testing::Test {
 protected:
  // Reads the group once, as --once does.
  ForwardCounts Forward(const std::string& base, ModelDataset* dataset, const std::string& origin = "",
                        const IdentityFlags& identity = kSoftmaxTwoPass) {
    GroupForwarder group({base}, origin, identity, dataset->Sink());
    const absl::Status status = group.Finish();
    EXPECT_TRUE(status.ok()) << status;
    refusal_ = group.refusal();
    return group.counts();
  }

  // Copies a sample's files below the test's folder, each truncated to a fraction of its bytes.
  std::string CopySample(const std::string& base, double part = 1) {
    for (const char* suffix : {".csv", ".meta.jsonl", ".meta.json", ".ir.jsonl"}) {
      const std::string from = Sample(base) + suffix;
      if (!std::filesystem::exists(from)) continue;
      const std::string bytes = ReadFile(from);
      // A .meta.json is never read partially.
      const double keep = std::string_view(suffix) == ".meta.json" ? 1 : part;
      WriteFile(folder_.File(base + suffix),
                std::string_view(bytes).substr(0, static_cast<size_t>(keep * static_cast<double>(bytes.size()))));
    }
    return folder_.File(base);
  }

  TempFolder folder_;
  std::string refusal_;
};

TEST_F(GroupForwarderTest, EveryRowOfEverySampleArrivesOnce) {
  for (const std::string& base : SampleBases()) {
    SCOPED_TRACE(base);
    record::sidecar::CsvParser csv;
    std::vector<record::sidecar::CsvParser::Item> items;
    csv.Feed(ReadFile(Sample(base) + ".csv"), &items);
    ModelDataset dataset;
    const ForwardCounts counts = Forward(Sample(base), &dataset);
    EXPECT_EQ(dataset.rows.size(), items.size() - 1);  // without the header
    EXPECT_EQ(counts.rows, dataset.rows.size());
    EXPECT_EQ(dataset.conflicts, 0);
    EXPECT_EQ(dataset.unknown_attempts, 0);
    EXPECT_THAT(dataset.rejects, IsEmpty());
    EXPECT_EQ(refusal_, "");
  }
}

TEST_F(GroupForwarderTest, AgainAndFromAnotherFolderAddsNothing) {
  for (const std::string& base : SampleBases()) {
    SCOPED_TRACE(base);
    ModelDataset once;
    Forward(Sample(base), &once);
    ModelDataset twice;
    Forward(Sample(base), &twice);
    Forward(CopySample(base), &twice);
    EXPECT_EQ(twice, once);
    EXPECT_EQ(twice.conflicts, 0);
  }
}

TEST_F(GroupForwarderTest, AGrownFileAddsWhatIsNew) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (const std::string& base : SampleBases()) {
    ModelDataset whole;
    Forward(Sample(base), &whole);
    for (int i = 0; i < 5; ++i) {
      const double part = std::uniform_real_distribution<double>(0, 1)(random);
      SCOPED_TRACE(testing::Message() << base << " cut at " << part);
      ModelDataset grown;
      Forward(CopySample(base, part), &grown);
      Forward(CopySample(base), &grown);
      EXPECT_EQ(grown, whole);
      EXPECT_EQ(grown.conflicts, 0);
    }
  }
}

TEST_F(GroupForwarderTest, FollowedInSmallStepsGivesTheSame) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (const std::string& base : SampleBases()) {
    SCOPED_TRACE(base);
    ModelDataset whole;
    Forward(Sample(base), &whole);
    CopySample(base, 0);
    ModelDataset followed;
    GroupForwarder group({folder_.File(base)}, "", kSoftmaxTwoPass, followed.Sink());
    const std::string csv = ReadFile(Sample(base) + ".csv");
    for (size_t at = 0; at < csv.size();) {
      const size_t step = std::uniform_int_distribution<size_t>(1, 4000)(random);
      AppendFile(folder_.File(base + ".csv"), std::string_view(csv).substr(at, step));
      at += step;
      ASSERT_TRUE(group.Advance().ok());
    }
    CopySample(base);  // the records arrive last
    ASSERT_TRUE(group.Finish().ok());
    EXPECT_EQ(followed, whole);
    EXPECT_THAT(followed.rejects, IsEmpty());
  }
}

TEST_F(GroupForwarderTest, TwoOriginsKeepTheirRowsApart) {
  ModelDataset dataset;
  Forward(Sample("helion-pr2750/add"), &dataset, "job 1");
  Forward(Sample("helion-pr2750/add"), &dataset, "job 2");
  EXPECT_THAT(dataset.rows, SizeIs(2 * 122));
}

TEST_F(GroupForwarderTest, EqualAttemptsOfOneFileStayTwo) {
  // Two jobs that were killed early. Only the position of their rows distinguishes them.
  const std::string row = std::string(64, 'a') + ",0.04,44136fa355b3678a,0,started,,0.03,Config()\r\n";
  WriteFile(folder_.File("k.csv"),
            std::string(record::sidecar::DialectHeader(record::sidecar::Dialect::kHelion)) + "\r\n" + row + row);
  ModelDataset dataset;
  EXPECT_EQ(Forward(folder_.File("k"), &dataset).attempts, 2U);
  EXPECT_THAT(dataset.rows, SizeIs(2));
}

TEST_F(GroupForwarderTest, JoinedFilesAddNothing) {
  // Both attempts begin with the same row, as attempts do that measure the default config first.
  const std::string header = std::string(record::sidecar::DialectHeader(record::sidecar::Dialect::kHelion)) + "\r\n";
  const auto row = [](const std::string& timestamp, const std::string& rest) {
    return std::string(64, 'a') + "," + timestamp + ",44136fa355b3678a,0," + rest + ",Config()\r\n";
  };
  const std::string a =
      row("0.00", "started,,0.03") + row("5.00", "ok,0.500000,0.03") + row("6.00", "ok,0.400000,0.03");
  const std::string b =
      row("0.00", "started,,0.03") + row("7.00", "ok,0.600000,0.03") + row("8.00", "ok,0.300000,0.03");
  WriteFile(folder_.File("a.csv"), header + a);
  WriteFile(folder_.File("b.csv"), header + b);
  WriteFile(folder_.File("ab.csv"), header + a + b);
  WriteFile(folder_.File("ba.csv"), header + b + a);
  ModelDataset dataset;
  for (const char* name : {"a", "b", "ab", "ba"}) Forward(folder_.File(name), &dataset);
  EXPECT_THAT(dataset.attempts, SizeIs(2));
  EXPECT_THAT(dataset.rows, SizeIs(6));
}

TEST_F(GroupForwarderTest, RejectsOfAReplacedFileStillCount) {
  WriteFile(folder_.File("k.csv"), "rubbish\r\n" + ReadFile(Sample("helion-main/bmm.csv")));
  ModelDataset dataset;
  GroupForwarder group({folder_.File("k")}, "", {}, dataset.Sink());
  ASSERT_TRUE(group.Advance().ok());
  ReplaceFile(folder_.File("k.csv"), ReadFile(Sample("helion-main/rms_norm.csv")));
  ASSERT_TRUE(group.Finish().ok());
  EXPECT_EQ(group.counts().rejects, 1U);
}

TEST_F(GroupForwarderTest, ARejectThatIsCutSaysSo) {
  WriteFile(folder_.File("k.meta.jsonl"), std::string(5 << 20, 'x') + "\n");
  ModelDataset dataset;
  Forward(folder_.File("k"), &dataset);
  ASSERT_THAT(dataset.rejects, SizeIs(1));
  EXPECT_THAT(*dataset.rejects.begin(), HasSubstr("of 5242880 bytes are kept"));
}

TEST_F(GroupForwarderTest, ADamagedLineIsRejectedWithItsPlaceAndCostsNoOtherRow) {
  std::string csv = ReadFile(Sample("helion-main/rms_norm.csv"));
  const size_t second_line = csv.find("\r\n") + 2;
  csv.insert(second_line, "torn,0.1\r\n");
  WriteFile(folder_.File("k.csv"), csv);
  ModelDataset dataset;
  const ForwardCounts counts = Forward(folder_.File("k"), &dataset, "ci");
  EXPECT_EQ(counts.rows, 36U);
  EXPECT_EQ(counts.rejects, 1U);
  ASSERT_THAT(dataset.rejects, SizeIs(1));
  v1::Reject reject;
  ASSERT_TRUE(reject.ParseFromString(*dataset.rejects.begin()));
  EXPECT_EQ(reject.source(), "k.csv");
  EXPECT_EQ(reject.line(), 2U);
  EXPECT_EQ(reject.origin(), "ci");
  EXPECT_THAT(reject.raw(), HasSubstr("torn,0.1"));
  EXPECT_NE(reject.message(), "");
}

TEST_F(GroupForwarderTest, AReplacedFileIsReadFromItsStart) {
  WriteFile(folder_.File("k.csv"), ReadFile(Sample("helion-main/bmm.csv")));
  ModelDataset dataset;
  GroupForwarder group({folder_.File("k")}, "", {}, dataset.Sink());
  ASSERT_TRUE(group.Advance().ok());
  ReplaceFile(folder_.File("k.csv"), ReadFile(Sample("helion-main/rms_norm.csv")));
  ASSERT_TRUE(group.Finish().ok());
  EXPECT_THAT(dataset.rows, SizeIs(84 + 36));
}

TEST_F(GroupForwarderTest, RowsWithoutIdentityAreRefusedAndTheFlagsNamed) {
  ModelDataset dataset;
  const ForwardCounts counts = Forward(Sample("helion-v1.1/softmax_two_pass"), &dataset, "", IdentityFlags{});
  EXPECT_EQ(counts.waiting_rows, 44U);
  EXPECT_THAT(dataset.rows, IsEmpty());
  EXPECT_THAT(refusal_, HasSubstr("44 rows refused"));
  EXPECT_THAT(refusal_, HasSubstr("--kernel-source, --kernel-name, --input-shapes, --dtypes, --hardware"));
}

TEST_F(GroupForwarderTest, RowsWaitForARecordThatComesLater) {
  const std::string sample = "helion-pr2699/softmax_two_pass";
  WriteFile(folder_.File("k.csv"), ReadFile(Sample(sample + ".csv")));
  ModelDataset dataset;
  GroupForwarder group({folder_.File("k")}, "", {}, dataset.Sink());
  ASSERT_TRUE(group.Advance().ok());
  EXPECT_THAT(dataset.rows, IsEmpty());
  WriteFile(folder_.File("k.meta.json"), ReadFile(Sample(sample + ".meta.json")));
  ASSERT_TRUE(group.Finish().ok());
  EXPECT_THAT(dataset.rows, SizeIs(44));
  EXPECT_EQ(group.refusal(), "");
}

class SourceHashTest : public GroupForwarderTest {
 protected:
  // Builds a .sources.csv from the rows of a sample.
  SourceHashTest() : csv_(ReadFile(Sample("helion-main/rms_norm.csv"))) {
    record::sidecar::CsvParser csv;
    std::vector<record::sidecar::CsvParser::Item> items;
    csv.Feed(csv_, &items);
    sources_ = std::string(record::sidecar::DialectHeader(record::sidecar::Dialect::kHelionSources)) + "\r\n";
    for (record::sidecar::CsvParser::Item& item : items) {
      if (item.kind != record::sidecar::CsvParser::Kind::kRow) continue;
      item.row.source_hash = record::Sha256Hex(item.row.config_text);
      record::sidecar::AppendRow(record::sidecar::Dialect::kHelionSources, item.row, &sources_);
    }
  }

  std::string csv_;
  std::string sources_;
};

TEST_F(SourceHashTest, EachRowGetsItsHash) {
  WriteFile(folder_.File("k.csv"), csv_);
  WriteFile(folder_.File("k.sources.csv"), sources_);
  ModelDataset dataset;
  EXPECT_EQ(Forward(folder_.File("k"), &dataset).rejects, 0U);
  EXPECT_THAT(dataset.source_hashes, SizeIs(36));
}

TEST_F(SourceHashTest, HashesMayComeLongAfterTheirRows) {
  WriteFile(folder_.File("k.csv"), csv_);
  ModelDataset dataset;
  GroupForwarder group({folder_.File("k")}, "", {}, dataset.Sink());
  ASSERT_TRUE(group.Advance().ok());
  WriteFile(folder_.File("k.sources.csv"), sources_.substr(0, sources_.size() / 2));
  ASSERT_TRUE(group.Advance().ok());
  AppendFile(folder_.File("k.sources.csv"), sources_.substr(sources_.size() / 2));
  ASSERT_TRUE(group.Finish().ok());
  EXPECT_THAT(dataset.source_hashes, SizeIs(36));
  EXPECT_THAT(dataset.rows, SizeIs(36));
  EXPECT_THAT(dataset.rejects, IsEmpty());
}

TEST_F(SourceHashTest, AHashWithoutItsRowIsRejected) {
  WriteFile(folder_.File("k.csv"), csv_.substr(0, csv_.find("\r\n") + 2));
  WriteFile(folder_.File("k.sources.csv"), sources_);
  ModelDataset dataset;
  EXPECT_EQ(Forward(folder_.File("k"), &dataset).rejects, 36U);
}

}  // namespace
}  // namespace telemetry::worker::forward
