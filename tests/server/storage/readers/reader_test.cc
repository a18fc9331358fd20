#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::storage::readers {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ReaderTest : public ::testing::Test {
 protected:
  std::unique_ptr<StoreReader> Reader() { return story_.OpenReader(); }

  // Returns the rows of an export as "run attempt seq", with the first letters of the ids.
  std::vector<std::string> Rows(const v1::Filter& filter) {
    std::vector<std::string> rows;
    v1::ExportRequest request;
    *request.mutable_filter() = filter;
    std::string run, attempt;
    const absl::Status status = Reader()->Export(request, [&](const v1::ExportItem& item) {
      if (item.has_run()) run = item.run().run().run_id().substr(0, 1);
      if (item.has_attempt()) attempt = item.attempt().attempt().attempt_id().substr(0, 1);
      for (const v1::Measurement& row : item.rows().measurements()) {
        rows.push_back(absl::StrCat(run, " ", attempt, " ", row.seq()));
      }
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
    return rows;
  }

  DatasetStory story_;
};

TEST_F(ReaderTest, RowsComeByRunThenAttemptThenSeqHoweverTheyArrived) {
  story_.Send({AttemptRecord('y', 'b'), AttemptRecord('x', 'b'), AttemptRecord('z', 'a')});
  story_.Send({Row('y', 2, 1), Row('x', 1, 1), Row('z', 9, 1), Row('y', 1, 1)});
  EXPECT_THAT(Rows({}), ElementsAre("a z 9", "b x 1", "b y 1", "b y 2"));
}

TEST_F(ReaderTest, ANegativeZeroKeepsItsSign) {
  v1::Record row = Row('x', 1, -0.0);
  row.mutable_measurement()->set_timestamp_s(-0.0);
  row.mutable_measurement()->set_compile_time_s(0.0);
  v1::Record detail = DetailRecord('x', 1);
  detail.mutable_measurement_detail()->set_worst_relative_error(-0.0);
  story_.Send({AttemptRecord('x', 'a'), row, detail});
  int rows = 0;
  v1::ExportRequest request;
  request.set_details(true);
  const absl::Status status = Reader()->Export(request, [&](const v1::ExportItem& item) {
    for (const v1::Measurement& stored : item.rows().measurements()) {
      ++rows;
      EXPECT_TRUE(std::signbit(stored.perf_ms()));
      EXPECT_TRUE(std::signbit(stored.timestamp_s()));
      EXPECT_FALSE(std::signbit(stored.compile_time_s()));
    }
    for (const v1::MeasurementDetail& stored : item.rows().details()) {
      ++rows;
      EXPECT_TRUE(std::signbit(stored.worst_relative_error()));
    }
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(rows, 2);
  EXPECT_THAT(story_.Send({row, detail}).refused, IsEmpty());
}

TEST_F(ReaderTest, AttemptsLongerThanAPageComeWhole) {
  constexpr uint64_t kRows = 2345;
  std::vector<v1::Record> log = {AttemptRecord('x', 'a')};
  for (uint64_t seq = 1; seq <= kRows; ++seq) log.push_back(Row('x', seq, 1, 1 + seq % 700));
  story_.Send(log);
  uint64_t next = 1;
  std::vector<uint64_t> announced(701);
  const absl::Status status = Reader()->Export({}, [&](const v1::ExportItem& item) {
    for (const v1::Config& config : item.configs().configs()) ++announced[config.config_id()];
    for (const v1::Measurement& row : item.rows().measurements()) {
      EXPECT_EQ(row.seq(), next++);
      EXPECT_EQ(announced[row.config_id()], 1u)
          << "a config is announced once, before the first row that references it";
    }
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(next, kRows + 1);
}

TEST_F(ReaderTest, ConfigsThatShareAPlaceInMemoryKeepTheirIds) {
  constexpr uint64_t kConfigs = 9000;  // more than an export caches
  std::vector<v1::Record> log = {AttemptRecord('x', 'a')};
  const auto add_row = [&log](uint64_t config_id) {
    log.push_back(Row('x', log.size(), static_cast<double>(config_id), config_id));
  };
  for (uint64_t config_id = 1; config_id <= kConfigs; ++config_id) add_row(config_id);
  for (uint64_t config_id = kConfigs; config_id > 0; config_id -= 100) {
    for (const uint64_t other : {config_id, (config_id + 8192) % kConfigs + 1, config_id}) add_row(other);
  }
  story_.Send(log);
  uint64_t rows = 0;
  std::vector<uint64_t> announced(kConfigs + 1);
  const absl::Status status = Reader()->Export({}, [&](const v1::ExportItem& item) {
    for (const v1::Config& config : item.configs().configs()) ++announced[config.config_id()];
    for (const v1::Measurement& row : item.rows().measurements()) {
      ++rows;
      EXPECT_EQ(row.perf_ms(), static_cast<double>(row.config_id()));
      EXPECT_EQ(announced[row.config_id()], 1u);
    }
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(rows, log.size() - 1);
}

TEST_F(ReaderTest, NothingFollowsTheLastSequenceNumber) {
  story_.Send({AttemptRecord('x', 'a'), Row('x', 1, 1)});
  v1::ListMeasurementsRequest request;
  request.set_attempt_id(AttemptId('x'));
  request.set_after_seq(uint64_t{1} << 63);
  EXPECT_EQ(Reader()->ListMeasurements(request)->measurements_size(), 0);
}

TEST_F(ReaderTest, WhatWasSentComesBack) {
  v1::Record row = Row('x', 1, 0.1);
  row.mutable_measurement()->set_compile_time_s(1e-300);
  row.mutable_measurement()->set_generation(-3);
  row.mutable_measurement()->mutable_failure()->set_phase("compile");
  row.mutable_measurement()->mutable_failure()->set_message("quote \" and \xf0\x9f\x98\x80");
  row.mutable_measurement()->mutable_failure()->set_log_sha256(std::string(32, '\xfe'));
  v1::Record bare = Row('x', 2, 1);
  bare.mutable_measurement()->clear_perf_ms();
  story_.Send({AttemptRecord('x', 'a'), row, bare});
  v1::ListMeasurementsRequest request;
  request.set_attempt_id(AttemptId('x'));
  const v1::ListMeasurementsResponse response = *Reader()->ListMeasurements(request);
  ASSERT_EQ(response.measurements_size(), 2);
  EXPECT_EQ(response.measurements(0).DebugString(), row.measurement().DebugString());
  EXPECT_EQ(response.measurements(1).DebugString(), bare.measurement().DebugString());
}

TEST_F(ReaderTest, DetailsComeBackWhereTheyAreAskedFor) {
  v1::Record bare;
  bare.mutable_measurement_detail()->set_attempt_id(AttemptId('x'));
  bare.mutable_measurement_detail()->set_seq(3);
  v1::Record failed = Row('x', 3, 1);
  failed.mutable_measurement()->set_status("error");
  story_.Send({AttemptRecord('x', 'a'), DetailRecord('x', 1), Row('x', 1, 1), Row('x', 2, 1), failed, bare,
               DetailRecord('x', 4)});  // its row never arrives
  v1::ListMeasurementsRequest request;
  request.set_attempt_id(AttemptId('x'));
  EXPECT_EQ(Reader()->ListMeasurements(request)->details_size(), 0);
  request.set_details(true);
  const v1::ListMeasurementsResponse response = *Reader()->ListMeasurements(request);
  ASSERT_EQ(response.details_size(), 2);
  EXPECT_EQ(response.details(0).DebugString(), DetailRecord('x', 1).measurement_detail().DebugString());
  EXPECT_EQ(response.details(1).DebugString(), bare.measurement_detail().DebugString());

  v1::ExportRequest exported;
  exported.mutable_filter()->set_status("error");  // a detail is exported only with its row
  for (const bool details : {false, true}) {
    exported.set_details(details);
    std::vector<uint64_t> seqs;
    const absl::Status status = Reader()->Export(exported, [&](const v1::ExportItem& item) {
      for (const v1::MeasurementDetail& detail : item.rows().details()) seqs.push_back(detail.seq());
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(seqs, details ? std::vector<uint64_t>{3} : std::vector<uint64_t>{});
  }
}

TEST_F(ReaderTest, FiltersSelect) {
  v1::Record add = RunRecord('b');
  add.mutable_run()->set_kernel_name("add");
  v1::Record late = AttemptRecord('x', 'a');
  late.mutable_attempt()->set_started_unix_us(2'000'000);
  v1::Record early = AttemptRecord('y', 'a');
  early.mutable_attempt()->set_started_unix_us(1'000'000);
  v1::Record third = AttemptRecord('z', 'b');
  third.mutable_attempt()->set_started_unix_us(1'000'000);
  v1::Record failed = Row('x', 2, 1);
  failed.mutable_measurement()->set_status("error");
  story_.Send({RunRecord('a'), add, late, early, third, Row('x', 1, 3), failed, Row('y', 1, 2), Row('z', 1, 1)});

  v1::Filter filter;
  filter.set_kernel_name("add");
  EXPECT_THAT(Rows(filter), ElementsAre("b z 1"));
  filter.Clear();
  filter.set_run_id("aaaa");
  EXPECT_THAT(Rows(filter), ElementsAre("a x 1", "a x 2", "a y 1"));
  filter.Clear();
  filter.set_hardware("another");
  EXPECT_THAT(Rows(filter), IsEmpty());
  filter.Clear();
  filter.set_status("error");
  EXPECT_THAT(Rows(filter), ElementsAre("a x 2"));
  filter.set_status("never seen");
  EXPECT_THAT(Rows(filter), IsEmpty());
  filter.Clear();
  filter.set_since_unix_us(2'000'000);
  EXPECT_THAT(Rows(filter), ElementsAre("a x 1", "a x 2"));
  filter.Clear();
  filter.set_attempts(v1::Filter::ATTEMPTS_LATEST);
  EXPECT_THAT(Rows(filter), ElementsAre("a y 1", "b z 1"));
  filter.set_attempts(v1::Filter::ATTEMPTS_BEST);
  EXPECT_THAT(Rows(filter), ElementsAre("a y 1", "b z 1"));
}

TEST_F(ReaderTest, AnExportWithoutRowsEndsWithTheValuesThatExist) {
  v1::Record add = RunRecord('b');
  add.mutable_run()->set_kernel_name("add");
  add.mutable_run()->set_hardware("NVIDIA B200");
  v1::Record nameless = RunRecord('c');
  nameless.mutable_run()->set_kernel_name(std::string(1000, 'x'));
  v1::Record failed = Row('x', 2, 1);
  failed.mutable_measurement()->set_status("error");
  story_.Send({RunRecord('a'), add, nameless, AttemptRecord('x', 'a'), Row('x', 1, 3), failed});
  const auto items = [this](const std::string& status) {
    v1::ExportRequest request;
    request.mutable_filter()->set_status(status);
    std::vector<v1::ExportItem> all;
    EXPECT_TRUE(Reader()
                    ->Export(request,
                             [&](const v1::ExportItem& item) {
                               all.push_back(item);
                               return absl::OkStatus();
                             })
                    .ok());
    return all;
  };
  for (const v1::ExportItem& item : items("ok")) EXPECT_FALSE(item.has_filter_values());
  const v1::FilterValues values = items("OK").back().filter_values();
  EXPECT_THAT(values.kernel_names(), ElementsAre("add", RunRecord('a').run().kernel_name()));
  EXPECT_THAT(values.hardware(), ElementsAre("NVIDIA B200", RunRecord('a').run().hardware()));
  EXPECT_THAT(values.statuses(), ElementsAre("error", "ok"));
}

TEST_F(ReaderTest, ImpossibleFiltersAreRefused) {
  for (const char* id : {"abc", "ABCD", "xyzw"}) {
    v1::ExportRequest request;
    request.mutable_filter()->set_run_id(id);
    EXPECT_TRUE(absl::IsInvalidArgument(Reader()->Export(request, [](const auto&) { return absl::OkStatus(); }))) << id;
  }
}

TEST_F(ReaderTest, RunsAndAttemptsComeInPages) {
  for (char run : {'c', 'a', 'b'}) story_.Send({RunRecord(run)});
  story_.Send({AttemptRecord('y', 'a'), AttemptRecord('x', 'a')});
  v1::ListRunsRequest request;
  request.set_page_size(2);
  v1::ListRunsResponse page = *Reader()->ListRuns(request);
  ASSERT_EQ(page.runs_size(), 2);
  EXPECT_EQ(page.runs(1).run().run_id(), RunId('b'));
  request.set_page_token(page.next_page_token());
  page = *Reader()->ListRuns(request);
  ASSERT_EQ(page.runs_size(), 1);
  EXPECT_EQ(page.runs(0).run().run_id(), RunId('c'));
  EXPECT_EQ(page.next_page_token(), "");
  request.set_page_token("made up");
  EXPECT_TRUE(absl::IsInvalidArgument(Reader()->ListRuns(request).status()));

  v1::ListAttemptsRequest attempts;
  attempts.set_run_id(RunId('a'));
  attempts.set_page_size(1);
  v1::ListAttemptsResponse first = *Reader()->ListAttempts(attempts);
  attempts.set_page_token(first.next_page_token());
  EXPECT_EQ(first.attempts(0).attempt().attempt_id(), AttemptId('x'));
  EXPECT_EQ(Reader()->ListAttempts(attempts)->attempts(0).attempt().attempt_id(), AttemptId('y'));
}

TEST_F(ReaderTest, SummariesCount) {
  story_.Send({AttemptRecord('x', 'a'), Row('x', 1, 3, 5), Row('x', 2, 2, 6), Row('x', 3, 2, 7), Row('x', 4, 9, 5)});
  const v1::RunSummary run = *Reader()->GetRun(RunId('a'));
  EXPECT_EQ(run.attempts(), 1u);
  EXPECT_EQ(run.measurements(), 4u);
  EXPECT_EQ(run.configs(), 3u);
  EXPECT_EQ(run.best_perf_ms(), 2);
  EXPECT_EQ(run.best_config_id(), 6u);
  EXPECT_EQ(Reader()->GetAttempt(AttemptId('x'))->measurements(), 4u);
}

v1::Record StageRecord(char attempt, uint64_t seq, v1::MeasurementDetail::Stage stage) {
  v1::Record record;
  record.mutable_measurement_detail()->set_attempt_id(AttemptId(attempt));
  record.mutable_measurement_detail()->set_seq(seq);
  record.mutable_measurement_detail()->set_stage(stage);
  return record;
}

TEST_F(ReaderTest, AFinalMeasurementIsBetterThanALuckyOne) {
  story_.Send({AttemptRecord('x', 'a'), Row('x', 1, 1, 5), StageRecord('x', 1, v1::MeasurementDetail::STAGE_SEARCH),
               Row('x', 2, 3, 6), StageRecord('x', 2, v1::MeasurementDetail::STAGE_FINAL), Row('x', 3, 4, 7),
               StageRecord('x', 3, v1::MeasurementDetail::STAGE_FINAL)});
  story_.Send({AttemptRecord('y', 'a'), Row('y', 1, 2, 5)});
  EXPECT_EQ(Reader()->GetRun(RunId('a'))->best_config_id(), 6u);
  EXPECT_EQ(Reader()->GetRun(RunId('a'))->best_perf_ms(), 3);
  EXPECT_TRUE(Reader()->GetRun(RunId('a'))->best_is_final());
  EXPECT_EQ(Reader()->GetAttempt(AttemptId('x'))->best_perf_ms(), 3);
  v1::Filter best;
  best.set_attempts(v1::Filter::ATTEMPTS_BEST);
  EXPECT_THAT(Rows(best), ElementsAre("a x 1", "a x 2", "a x 3"));
}

TEST_F(ReaderTest, AMeasurementThatWasGivenUpIsNeverTheBest) {
  story_.Send(
      {AttemptRecord('x', 'a'), Row('x', 1, 1, 5), StageRecord('x', 1, v1::MeasurementDetail::STAGE_SCREENING)});
  EXPECT_FALSE(Reader()->GetRun(RunId('a'))->has_best_perf_ms());
  EXPECT_FALSE(Reader()->GetAttempt(AttemptId('x'))->has_best_perf_ms());
  v1::Filter best;
  best.set_attempts(v1::Filter::ATTEMPTS_BEST);
  EXPECT_THAT(Rows(best), IsEmpty());
  story_.Send({Row('x', 2, 2, 6)});
  EXPECT_EQ(Reader()->GetRun(RunId('a'))->best_perf_ms(), 2);
  EXPECT_FALSE(Reader()->GetRun(RunId('a'))->best_is_final());
}

TEST_F(ReaderTest, SummariesHaveTheTextOfTheBestConfig) {
  story_.Send({AttemptRecord('x', 'a'), Row('x', 1, 3, 5), Row('x', 2, 2, 6)});
  EXPECT_FALSE(Reader()->GetRun(RunId('a'))->has_best_config()) << "its text has not arrived";
  story_.Send({ConfigRecord(5, "Config(a=1)"), ConfigRecord(6, "Config(a=[1, 2], b='x')")});
  EXPECT_EQ(Reader()->GetRun(RunId('a'))->best_config(), "Config(a=[1, 2], b='x')");
  EXPECT_EQ(Reader()->ListRuns({})->runs(0).best_config(), "Config(a=[1, 2], b='x')");
}

TEST_F(ReaderTest, AnExportAnnouncesTheBestConfigToo) {
  story_.Send({RunRecord('a'), AttemptRecord('x', 'a'), ConfigRecord(6, "Config(a=1)"), Row('x', 1, 2, 6)});
  std::vector<std::string> announced;
  ASSERT_TRUE(Reader()
                  ->Export({},
                           [&](const v1::ExportItem& item) {
                             for (const v1::Config& config : item.configs().configs())
                               announced.push_back(config.text());
                             return absl::OkStatus();
                           })
                  .ok());
  EXPECT_EQ(announced, std::vector<std::string>{"Config(a=1)"});
}

TEST_F(ReaderTest, WhatIsNotThereIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(Reader()->GetRun(RunId('a')).status()));
  EXPECT_TRUE(absl::IsNotFound(Reader()->GetAttempt(AttemptId('x')).status()));
}

TEST_F(ReaderTest, TheViewsAgree) {
  story_.Send({RunRecord('a'), AttemptRecord('x', 'a'), ConfigRecord(7, "Config(a=[1, 2], b='x')"), Row('x', 1, 3),
               Row('x', 2, 2)});
  EXPECT_EQ(story_.Query("SELECT config || seq FROM best_config_per_run"), "Config(a=[1, 2], b='x')2");
  EXPECT_EQ(story_.Query("SELECT attempts || ' ' || measurements || ' ' || configs FROM run_summary"), "1 2 1");
  EXPECT_EQ(story_.Query("SELECT CAST(best_perf_ms AS integer) FROM run_summary"), "2");
  EXPECT_EQ(story_.Query("SELECT status || config_id FROM measurement_rows"), "ok0000000000000007");
}

TEST_F(ReaderTest, TheViewsPreferAFinalAndLeaveOutWhatWasGivenUp) {
  v1::Record given_up = DetailRecord('x', 1), final = DetailRecord('x', 2);
  given_up.mutable_measurement_detail()->set_stage(v1::MeasurementDetail::STAGE_SCREENING);
  final.mutable_measurement_detail()->set_stage(v1::MeasurementDetail::STAGE_FINAL);
  story_.Send({AttemptRecord('x', 'a'), Row('x', 1, 1), Row('x', 2, 4), Row('x', 3, 2), given_up});
  EXPECT_EQ(story_.Query("SELECT seq FROM best_config_per_run"), "3");
  EXPECT_EQ(story_.Query("SELECT CAST(best_perf_ms AS integer) FROM run_summary"), "2");
  story_.Send({final});
  EXPECT_EQ(story_.Query("SELECT seq FROM best_config_per_run"), "2");
  EXPECT_EQ(story_.Query("SELECT CAST(best_perf_ms AS integer) FROM run_summary"), "4");
}

// More texts of this size than fit on a page.
constexpr size_t kTextBytes = 20000;
constexpr size_t kTexts = 200;
// One page of rows, as many bytes of details, and one more text of each.
constexpr size_t kMostPageBytes = 600'000;

v1::Record FailedRow(char attempt, uint64_t seq) {
  v1::Record row = Row(attempt, seq, 1, seq);
  row.mutable_measurement()->set_status("error");
  row.mutable_measurement()->mutable_failure()->set_message(std::string(kTextBytes, 'f'));
  return row;
}

TEST_F(ReaderTest, APageIsBoundedByBytes) {
  std::vector<v1::Record> log = {RunRecord('a'), AttemptRecord('x', 'a')};
  for (uint64_t seq = 1; seq <= kTexts; ++seq) {
    log.push_back(ConfigRecord(seq, absl::StrCat("Config(a='", std::string(kTextBytes, 'c'), seq, "')")));
    log.push_back(seq % 2 == 0 ? FailedRow('x', seq) : Row('x', seq, 1, seq));
    v1::Record detail = DetailRecord('x', seq);
    detail.mutable_measurement_detail()->mutable_samples_ms()->Resize(kTextBytes / 8, 0.125);
    log.push_back(detail);
    log.push_back(RunConfigRecord('a', seq, std::string(kTextBytes, 'd')));
  }
  EXPECT_TRUE(story_.Send(log).status.ok());
  v1::ExportRequest request;
  request.set_details(true);
  size_t largest = 0;
  size_t rows = 0;
  size_t details = 0;
  const absl::Status status = Reader()->Export(request, [&](const v1::ExportItem& item) {
    largest = std::max(largest, item.ByteSizeLong());
    rows += item.rows().measurements_size();
    details += item.rows().details_size();
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(rows, kTexts);
  EXPECT_EQ(details, kTexts);
  EXPECT_LE(largest, kMostPageBytes);
}

TEST_F(ReaderTest, RunConfigsComeByConfigIdHoweverManyAndLongTheyAre) {
  // Run b has more run configs than are read with their keys. One of run c is long.
  const std::map<char, uint64_t> counts = {{'a', 5}, {'b', 1200}, {'c', 7}};
  const auto decorator = [](char run, uint64_t config) {
    return run == 'c' && config == 4 ? std::string(5000, 'd') : absl::StrCat("@", std::string(1, run), config);
  };
  const auto text = [](uint64_t config) { return absl::StrCat("Config(warps=", config, ")"); };
  std::vector<v1::Record> log;
  for (const auto& [run, count] : counts) log.push_back(RunRecord(run));
  // Keys grow with arrival, config_ids fall.
  for (uint64_t config = 1200; config > 0; --config) {
    log.push_back(ConfigRecord(config, text(config)));
    for (const auto& [run, count] : counts) {
      if (config <= count) log.push_back(RunConfigRecord(run, config, decorator(run, config)));
    }
  }
  ASSERT_TRUE(story_.Send(log).status.ok());
  std::map<char, std::vector<uint64_t>> found;
  std::map<uint64_t, std::string> announced;
  const absl::Status status = Reader()->Export({}, [&](const v1::ExportItem& item) {
    for (const v1::Config& config : item.configs().configs()) {
      EXPECT_TRUE(announced.emplace(config.config_id(), config.text()).second) << config.config_id();
    }
    for (const v1::RunConfig& config : item.run_configs().run_configs()) {
      const char run = config.run_id().front();
      found[run].push_back(config.config_id());
      EXPECT_EQ(config.decorator(), decorator(run, config.config_id()));
      EXPECT_EQ(announced[config.config_id()], text(config.config_id()));
    }
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  for (const auto& [run, count] : counts) {
    std::vector<uint64_t> all(count);
    std::iota(all.begin(), all.end(), 1);
    EXPECT_EQ(found[run], all) << run;
  }
}

TEST_F(ReaderTest, AListIsBoundedByBytes) {
  std::vector<v1::Record> log = {RunRecord('a'), AttemptRecord('x', 'a')};
  for (uint64_t seq = 1; seq <= kTexts; ++seq) log.push_back(FailedRow('x', seq));
  EXPECT_TRUE(story_.Send(log).status.ok());
  v1::ListMeasurementsRequest request;
  request.set_attempt_id(AttemptId('x'));
  v1::ListMeasurementsResponse page;
  uint64_t rows = 0;
  do {
    page = *Reader()->ListMeasurements(request);
    ASSERT_GT(page.measurements_size(), 0);
    EXPECT_LE(page.ByteSizeLong(), 2'000'000u);
    for (const v1::Measurement& row : page.measurements()) EXPECT_EQ(row.seq(), ++rows);
    request.set_after_seq(rows);
  } while (page.more());
  EXPECT_EQ(rows, kTexts);
}

TEST_F(ReaderTest, ListsOfRunsAndAttemptsAreBoundedByBytes) {
  std::vector<v1::Record> log;
  for (char run : std::string("0123456789abcdef")) {
    log.push_back(RunRecord(run));
    log.back().mutable_run()->set_kernel_source(std::string(200'000, run));
  }
  for (char attempt = 'A'; attempt <= 'Z'; ++attempt) {
    log.push_back(AttemptRecord(attempt, 'a'));
    log.back().mutable_attempt()->set_environment_json(absl::StrCat("{\"a\": \"", std::string(200'000, 'e'), "\"}"));
  }
  EXPECT_TRUE(story_.Send(log).status.ok());
  v1::ListRunsRequest runs;
  int count = 0;
  do {
    const v1::ListRunsResponse page = *Reader()->ListRuns(runs);
    EXPECT_LE(page.ByteSizeLong(), 2'000'000u);
    count += page.runs_size();
    runs.set_page_token(page.next_page_token());
  } while (!runs.page_token().empty());
  EXPECT_EQ(count, 16);
  v1::ListAttemptsRequest attempts;
  attempts.set_run_id(RunId('a'));
  count = 0;
  do {
    const v1::ListAttemptsResponse page = *Reader()->ListAttempts(attempts);
    EXPECT_LE(page.ByteSizeLong(), 2'000'000u);
    count += page.attempts_size();
    attempts.set_page_token(page.next_page_token());
  } while (!attempts.page_token().empty());
  EXPECT_EQ(count, 26);
}

TEST_F(ReaderTest, AnAttemptSupersededUnderTheExportIsSaid) {
  v1::Record shorter = AttemptRecord('x', 'a');
  shorter.mutable_attempt()->set_provisional(true);
  v1::Record longer = AttemptRecord('y', 'a');
  longer.mutable_attempt()->set_provisional(true);
  longer.mutable_attempt()->add_supersedes(AttemptId('x'));
  story_.Send({shorter, Row('x', 1, 1)});
  const absl::Status status = Reader()->Export({}, [&](const v1::ExportItem& item) {
    if (item.has_attempt()) story_.Send({longer});
    return absl::OkStatus();
  });
  EXPECT_TRUE(absl::IsAborted(status)) << status;
}

TEST_F(ReaderTest, TheSinksErrorEndsTheExport) {
  const absl::Status status = Reader()->Export({}, [](const auto&) { return absl::CancelledError("enough"); });
  EXPECT_TRUE(absl::IsCancelled(status));
}

}  // namespace
}  // namespace telemetry::storage::readers
