// Tests of the traces of Helion 1.5: their lines are stored as they are, and each trace is linked to its attempt.

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/record/ids.h"
#include "proto/record/sidecar/trace_line.h"
#include "tests/worker/forward/model_dataset.h"
#include "tests/worker/forward/test_files.h"
#include "tests/worker/forward/tuning_jobs.h"
#include "worker/forward/group_forwarder.h"

namespace telemetry::worker::forward {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAreArray;

using Texts = std::vector<std::string>;

Texts Lines(const std::string& text) {
  Texts lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// Returns the events of each attempt in the order of their seq.
std::map<std::string, Texts> EventsByAttempt(const ModelDataset& dataset) {
  std::map<std::string, Texts> events;
  for (const auto& [key, text] : dataset.events) events[key.first].push_back(text);
  return events;
}

std::vector<Texts> AllEvents(const ModelDataset& dataset) {
  std::vector<Texts> all;
  for (auto& [attempt, texts] : EventsByAttempt(dataset)) all.push_back(texts);
  return all;
}

bool IsUnlinked(const v1::Attempt& attempt) { return attempt.run_id() == record::UnknownRunId(attempt.attempt_id()); }

size_t CountUnlinked(const ModelDataset& dataset) {
  return static_cast<size_t>(std::count_if(dataset.attempts.begin(), dataset.attempts.end(),
                                           [](const auto& attempt) { return IsUnlinked(attempt.second); }));
}

// Returns the lines of each trace, in the order of the file.
std::map<std::string, Texts> LinesByTrace(const std::string& text) {
  std::map<std::string, Texts> traces;
  for (const std::string& line : Lines(text)) traces[record::sidecar::ParseTraceLine(line)->run_id].push_back(line);
  return traces;
}

class TraceLinkTest : public ::testing::Test {
 protected:
  TraceLinkTest() : seed_(std::random_device{}()), random_(seed_) {}

  void Write(const std::string& csv, const std::string& trace) {
    if (!csv.empty()) WriteFile(base() + ".csv", csv);
    if (!trace.empty()) WriteFile(base() + ".trace.jsonl", trace);
  }
  void WriteAfter(const std::vector<TuningWrite>& writes, size_t count) {
    Write(FileAfter(writes, count, /*is_trace=*/false), FileAfter(writes, count, /*is_trace=*/true));
  }
  // Reads the files once, as --once does.
  ForwardCounts Forward(ModelDataset* dataset) {
    GroupForwarder group({base()}, "", {}, dataset->Sink());
    const absl::Status status = group.Finish();
    EXPECT_TRUE(status.ok()) << status;
    return group.counts();
  }
  ModelDataset Forwarded(const std::string& csv, const std::string& trace) {
    Write(csv, trace);
    ModelDataset dataset;
    Forward(&dataset);
    return dataset;
  }
  std::string base() const { return folder_.File("job"); }

  const unsigned seed_;
  std::mt19937 random_;
  TempFolder folder_;
};

class SampleTraceTest : public TraceLinkTest {
 protected:
  const std::string csv_ = ReadFile(Sample("helion-1.5.1/job.csv"));
  const std::string trace_ = ReadFile(Sample("helion-1.5.1/job.trace.jsonl"));
};

TEST_F(SampleTraceTest, EachTraceIsInTheAttemptOfItsRows) {
  const ModelDataset dataset = Forwarded(csv_, trace_);
  std::vector<Texts> traces;
  for (auto& [run_id, lines] : LinesByTrace(trace_)) traces.push_back(lines);
  EXPECT_THAT(AllEvents(dataset), UnorderedElementsAreArray(traces));
  EXPECT_EQ(CountUnlinked(dataset), 0U);
  EXPECT_THAT(dataset.attempts, SizeIs(2));
  EXPECT_THAT(dataset.rows, SizeIs(66));
  EXPECT_THAT(dataset.rejects, IsEmpty());
  EXPECT_EQ(dataset.conflicts, 0);
  // The inner search failed with 64 rows, all errors; the outer one succeeded with two.
  for (const auto& [id, attempt] : dataset.attempts) {
    const auto rows = std::count_if(dataset.rows.begin(), dataset.rows.end(),
                                    [&id](const auto& row) { return row.first.first == id; });
    EXPECT_EQ(attempt.state(), rows == 64 ? v1::Attempt::STATE_ABANDONED : v1::Attempt::STATE_COMPLETE);
    EXPECT_EQ(attempt.search_algorithm(), "LFBOTreeSearch");
    EXPECT_EQ(attempt.started_unix_us(), rows == 64 ? 1795394159902331 : 1795394146454318);
    EXPECT_EQ(EventsByAttempt(dataset)[id].size(), rows == 64 ? 68U : 7U);
  }
}

TEST_F(SampleTraceTest, TrialsAddTimesAndAllDigitsToTheirRows) {
  const ModelDataset dataset = Forwarded(csv_, trace_);
  EXPECT_THAT(dataset.details, SizeIs(66));
  size_t measured = 0;
  for (const auto& [key, text] : dataset.details) {
    v1::MeasurementDetail detail;
    ASSERT_TRUE(detail.ParseFromString(text));
    EXPECT_TRUE(detail.has_time_unix_us());
    if (!detail.has_exact_perf_ms()) continue;
    ++measured;
    EXPECT_EQ(detail.exact_perf_ms(), 0.03014400042593479);
    EXPECT_EQ(detail.time_unix_us(), 1795394163768282);
    v1::Measurement row;
    ASSERT_TRUE(row.ParseFromString(dataset.rows.at(key)));
    EXPECT_EQ(row.perf_ms(), 0.030144);
  }
  EXPECT_EQ(measured, 1U);
}

TEST_F(SampleTraceTest, OrderOfArrivalAndRepetitionChangeNothing) {
  const ModelDataset whole = Forwarded(csv_, trace_);
  for (const bool trace_first : {true, false}) {
    std::filesystem::remove(base() + ".csv");
    std::filesystem::remove(base() + ".trace.jsonl");
    ModelDataset dataset;
    Write(trace_first ? "" : csv_, trace_first ? trace_ : "");
    Forward(&dataset);
    EXPECT_EQ(CountUnlinked(dataset), trace_first ? 2U : 0U);
    Write(csv_, trace_);
    Forward(&dataset);
    Forward(&dataset);
    EXPECT_EQ(dataset, whole);
    EXPECT_EQ(dataset.conflicts, 0);
  }
}

TEST_F(SampleTraceTest, AFileThatComesWhileTheOtherIsFollowedGivesTheSame) {
  const ModelDataset whole = Forwarded(csv_, trace_);
  for (const bool trace_first : {true, false}) {
    std::filesystem::remove(base() + ".csv");
    std::filesystem::remove(base() + ".trace.jsonl");
    ModelDataset dataset;
    GroupForwarder group({base()}, "", {}, dataset.Sink());
    Write(trace_first ? "" : csv_, trace_first ? trace_ : "");
    ASSERT_TRUE(group.Advance().ok());
    Write(csv_, trace_);
    ASSERT_TRUE(group.Advance().ok());
    EXPECT_EQ(dataset.events, whole.events);
    ASSERT_TRUE(group.Finish().ok());
    EXPECT_EQ(dataset, whole);
    EXPECT_EQ(dataset.conflicts, 0);
  }
}

TEST_F(SampleTraceTest, CutAtAnyPlaceAndReadAgainGivesTheSame) {
  SCOPED_TRACE(testing::Message() << "seed " << seed_);
  const ModelDataset whole = Forwarded(csv_, trace_);
  for (int i = 0; i < 10; ++i) {
    const auto cut = [&](const std::string& text) {
      return text.substr(0, std::uniform_int_distribution<size_t>(0, text.size())(random_));
    };
    ModelDataset dataset;
    Write(cut(csv_), cut(trace_));
    Forward(&dataset);
    Write(csv_, trace_);
    Forward(&dataset);
    EXPECT_EQ(dataset, whole);
    EXPECT_EQ(dataset.conflicts, 0);
  }
}

TEST_F(SampleTraceTest, ATraceWithoutRowsIsAnAttemptOfAnUnknownRun) {
  const ModelDataset dataset = Forwarded("", trace_);
  EXPECT_EQ(CountUnlinked(dataset), 2U);
  EXPECT_THAT(dataset.runs, IsEmpty());
  EXPECT_THAT(dataset.rows, IsEmpty());
  EXPECT_THAT(dataset.details, IsEmpty());
  EXPECT_THAT(dataset.events, SizeIs(75));
  for (const auto& [id, attempt] : dataset.attempts) {
    EXPECT_TRUE(attempt.provisional());
    EXPECT_EQ(attempt.dialect(), "helion-trace");
    EXPECT_TRUE(attempt.has_started_unix_us());
  }
}

TEST_F(SampleTraceTest, ATraceThatLostItsFirstLinesLosesNoOther) {
  // The inner trace's lines from the tenth on, as after a rotation that copies and truncates.
  const std::string rest = trace_.substr(trace_.find('\n', trace_.size() / 3) + 1);
  ModelDataset dataset = Forwarded(csv_, trace_);
  Write("", rest);
  Forward(&dataset);
  EXPECT_EQ(dataset.conflicts, 0);
  std::set<std::string> texts;
  for (const auto& [key, text] : dataset.events) texts.insert(text);
  const Texts lines = Lines(trace_);
  EXPECT_EQ(texts, std::set<std::string>(lines.begin(), lines.end()));
}

// Checks that each trace is complete, in order, and in the attempt that begins with its first row.
void ExpectLinked(const ModelDataset& dataset, const std::vector<TuningProcess>& processes) {
  std::vector<Texts> traces;
  traces.reserve(processes.size());
  for (const TuningProcess& process : processes) traces.push_back(process.TraceTexts());
  EXPECT_THAT(AllEvents(dataset), UnorderedElementsAreArray(traces));
  EXPECT_EQ(CountUnlinked(dataset), 0U);
  EXPECT_EQ(dataset.conflicts, 0);
  EXPECT_EQ(dataset.unknown_attempts, 0);
  EXPECT_THAT(dataset.rejects, IsEmpty());
}

TEST_F(TraceLinkTest, SeveralProcessesAtOnceAreToldApart) {
  SCOPED_TRACE(testing::Message() << "seed " << seed_);
  for (int round = 0; round < 20; ++round) {
    std::vector<TuningProcess> processes;
    std::uniform_real_distribution<double> start_s(0, 3);
    for (size_t number = 0; number < 4; ++number) {
      TuningProcess& process = processes.emplace_back(number, start_s(random_));
      process.Search(30, &random_);
      process.End("ok");
    }
    const std::vector<TuningWrite> writes = InOrder(processes);
    ModelDataset whole;
    WriteAfter(writes, writes.size());
    Forward(&whole);
    ExpectLinked(whole, processes);

    // Followed in steps, and read once in between by another forwarder.
    ModelDataset followed;
    WriteAfter(writes, 0);
    GroupForwarder group({base()}, "", {}, followed.Sink());
    std::uniform_int_distribution<size_t> step(1, 40);
    std::bernoulli_distribution is_read_completely(0.05);
    for (size_t count = 0; count < writes.size();) {
      count = std::min(writes.size(), count + step(random_));
      WriteAfter(writes, count);
      ASSERT_TRUE(group.Advance().ok());
      if (is_read_completely(random_)) Forward(&followed);
    }
    ASSERT_TRUE(group.Finish().ok());
    EXPECT_EQ(followed, whole) << "round " << round;
    EXPECT_EQ(followed.conflicts, 0);
  }
}

TEST_F(TraceLinkTest, KilledProcessesAreLinkedIfTheirFirstTrialsIdentifyThem) {
  SCOPED_TRACE(testing::Message() << "seed " << seed_);
  std::uniform_int_distribution<size_t> count(2, 60);
  std::uniform_real_distribution<double> apart_s(0.1, 20);
  for (int round = 0; round < 20; ++round) {
    std::vector<TuningProcess> processes;
    double start_s = 0;
    size_t unidentified = 0;
    for (size_t number = 0; number < 5; ++number) {
      TuningProcess& process = processes.emplace_back(number, start_s += apart_s(random_));
      process.Search(30, &random_);
      process.Kill(count(random_));
      if (!process.IsIdentified()) ++unidentified;
    }
    const std::vector<TuningWrite> writes = InOrder(processes);
    ModelDataset dataset;
    WriteAfter(writes, writes.size());
    Forward(&dataset);
    EXPECT_EQ(CountUnlinked(dataset), unidentified);
    EXPECT_EQ(dataset.conflicts, 0);
    std::vector<Texts> traces;
    for (const TuningProcess& process : processes) traces.push_back(process.TraceTexts());
    EXPECT_THAT(AllEvents(dataset), UnorderedElementsAreArray(traces));
  }
}

TEST_F(TraceLinkTest, ProcessesOneAfterTheOtherGiveEachRowItsTime) {
  SCOPED_TRACE(testing::Message() << "seed " << seed_);
  for (int round = 0; round < 20; ++round) {
    // The first one has no trace, and all begin with the same row.
    std::vector<TuningProcess> processes;
    for (size_t number = 0; number < 4; ++number) {
      TuningProcess& process = processes.emplace_back(number, 1000.0 * static_cast<double>(number));
      process.Search(20, &random_);
      if (number % 2 == 0) process.End("ok");
    }
    std::vector<TuningWrite> writes = InOrder(processes);
    std::erase_if(writes, [](const TuningWrite& write) { return write.process == 0 && write.is_trace; });
    ModelDataset dataset;
    WriteAfter(writes, writes.size());
    Forward(&dataset);
    EXPECT_EQ(CountUnlinked(dataset), 0U);
    size_t detailed = 0;
    for (const auto& [id, attempt] : dataset.attempts) {
      const auto is_its_row = [&id](const auto& row) {
        return row.first.first == id && row.first.second < record::sidecar::kFirstTraceSeq;
      };
      const auto details = std::count_if(dataset.details.begin(), dataset.details.end(), is_its_row);
      const auto rows = std::count_if(dataset.rows.begin(), dataset.rows.end(), is_its_row);
      EXPECT_EQ(details, attempt.has_started_unix_us() ? rows : 0);
      if (details > 0) ++detailed;
    }
    EXPECT_EQ(detailed, 3U);
  }
}

TEST_F(TraceLinkTest, AProcessThatWasKilledBeforeItsFirstRowHasNoRun) {
  TuningProcess process(0, 0);
  process.Event("baseline");
  TuningProcess other(1, 1);
  other.Search(5, &random_);
  other.End("ok");
  const std::vector<TuningWrite> writes = InOrder({process, other});
  ModelDataset dataset;
  WriteAfter(writes, writes.size());
  Forward(&dataset);
  EXPECT_EQ(CountUnlinked(dataset), 1U);
  EXPECT_THAT(AllEvents(dataset), UnorderedElementsAreArray({process.TraceTexts(), other.TraceTexts()}));
}

TEST_F(TraceLinkTest, RebenchmarksAreRowsOfTheirOwn) {
  TuningProcess process(0, 0);
  process.Start(1);
  process.Trial(1, "ok", 0.5);
  process.Trial(2, "ok", 0.25);
  process.Rebenchmark(2, 0.2600000001);
  process.End("ok");
  const std::vector<TuningWrite> writes = InOrder({process});
  ModelDataset dataset;
  WriteAfter(writes, writes.size());
  Forward(&dataset);
  ASSERT_THAT(dataset.rows, SizeIs(4));
  const auto& [key, text] = *dataset.rows.rbegin();
  v1::Measurement row;
  ASSERT_TRUE(row.ParseFromString(text));
  EXPECT_EQ(row.seq(), record::sidecar::kFirstTraceSeq + 6);
  EXPECT_EQ(row.perf_ms(), 0.2600000001);
  EXPECT_EQ(row.status(), "ok");
  EXPECT_NEAR(row.timestamp_s(), 0.045, 0.01);
  v1::MeasurementDetail detail;
  ASSERT_TRUE(detail.ParseFromString(dataset.details.at(key)));
  EXPECT_EQ(detail.stage(), v1::MeasurementDetail::STAGE_REBENCHMARK);
  EXPECT_TRUE(detail.has_time_unix_us());
}

TEST_F(TraceLinkTest, NestedStagesWithClocksOfTheirOwnShareTheFirstAttempt) {
  TuningProcess process(0, 0);
  process.Search(20, &random_);
  process.NestedStage();
  process.Start(0);
  process.Trial(0, "ok", 0.5);
  process.End("ok");
  const std::vector<TuningWrite> writes = InOrder({process});
  ModelDataset dataset;
  WriteAfter(writes, writes.size());
  Forward(&dataset);
  EXPECT_THAT(AllEvents(dataset), ElementsAre(process.TraceTexts()));
  EXPECT_THAT(dataset.attempts, SizeIs(2));
  EXPECT_EQ(dataset.details.size(), dataset.rows.size());
}

TEST_F(TraceLinkTest, DamagedLinesAreRejectedAndCostNoOther) {
  TuningProcess process(0, 0);
  process.Search(3, &random_);
  Texts lines = process.TraceTexts();
  const std::string torn = lines[3].substr(0, 50);
  std::string trace = lines[0] + "\n" + lines[1] + lines[2] + "\n" + torn + lines[3] + "\n\n[]\n{\"event\": \"x\"}\n";
  for (size_t i = 4; i < lines.size(); ++i) trace += lines[i] + "\n";
  const std::vector<TuningWrite> writes = InOrder({process});
  ModelDataset dataset;
  Write(FileAfter(writes, writes.size(), /*is_trace=*/false), trace);
  EXPECT_EQ(Forward(&dataset).rejects, 3U);
  EXPECT_THAT(AllEvents(dataset), ElementsAre(lines));
}

TEST_F(TraceLinkTest, ALineWithoutEndIsReadAtTheEnd) {
  TuningProcess process(0, 0);
  process.Search(3, &random_);
  const std::vector<TuningWrite> writes = InOrder({process});
  const std::string trace = FileAfter(writes, writes.size(), /*is_trace=*/true);
  ModelDataset dataset;
  Write(FileAfter(writes, writes.size(), /*is_trace=*/false), trace.substr(0, trace.size() - 1));
  Forward(&dataset);
  EXPECT_THAT(AllEvents(dataset), ElementsAre(process.TraceTexts()));
}

TEST_F(TraceLinkTest, ALineThatIsTooLongIsRejectedInPieces) {
  TuningProcess process(0, 0);
  process.Search(3, &random_);
  const std::vector<TuningWrite> writes = InOrder({process});
  ModelDataset dataset;
  Write(FileAfter(writes, writes.size(), /*is_trace=*/false),
        "{\"schema_version\": " + std::string(9 << 20, '1') + "}\n" + FileAfter(writes, writes.size(), true));
  EXPECT_EQ(Forward(&dataset).rejects, 3U);
  EXPECT_THAT(AllEvents(dataset), ElementsAre(process.TraceTexts()));
}

TEST_F(TraceLinkTest, MoreLinesThanAreHeldAreReadAtTheEnd) {
  // A model that talks for a long time before the first row.
  TuningProcess process(0, 0);
  const std::string answer = ", \"answer\": \"" + std::string(1 << 20, 'x') + "\"";
  for (int i = 0; i < 80; ++i) process.Event("llm_response", answer);
  process.Search(3, &random_);
  const std::vector<TuningWrite> writes = InOrder({process});
  WriteAfter(writes, writes.size());
  ModelDataset dataset;
  GroupForwarder group({base()}, "", {}, dataset.Sink());
  ASSERT_TRUE(group.Advance().ok());
  EXPECT_THAT(dataset.events, IsEmpty());
  ASSERT_TRUE(group.Finish().ok());
  EXPECT_EQ(dataset.events.size(), process.TraceTexts().size());
  EXPECT_THAT(AllEvents(dataset), Each(process.TraceTexts()));
}

}  // namespace
}  // namespace telemetry::worker::forward
