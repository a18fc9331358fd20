#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "telemetry/v1/dataset.grpc.pb.h"
#include "tests/server/collector/any_call.h"
#include "tests/server/collector/collector_story.h"
#include "tests/server/storage/sqlite/power_cut_vfs.h"

namespace telemetry::collector {
namespace {

using storage::AttemptRecord;
using storage::ConfigRecord;
using storage::DetailRecord;
using storage::Row;
using storage::RunId;
using storage::RunRecord;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

TEST(Collector, RowsAreAcknowledgedAndThere) {
  CollectorStory story;
  TestStream stream(story.channel());
  const auto opened = stream.Open('p');
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->committed_seq(), 0u);
  EXPECT_EQ(opened->dataset_id().size(), 16u);
  EXPECT_GE(opened->window_bytes(), opened->max_batch_bytes());
  stream.Send(MakeBatch(1, {RunRecord('a'), AttemptRecord('x', 'a')}));
  stream.Send(MakeBatch(3, {Row('x', 1, 1), Row('x', 2, 1)}));
  ASSERT_TRUE(stream.AwaitAck(4));
  EXPECT_EQ(story.Query("SELECT count(*) FROM measurements"), "2");
  EXPECT_TRUE(stream.Finish().ok());
}

TEST(Collector, WhatWasReadBeforeTheHalfCloseIsAcknowledgedBeforeTheEnd) {
  CollectorStory story;
  TestStream stream(story.channel());
  ASSERT_TRUE(stream.Open('p'));
  for (uint64_t seq = 1; seq <= 50; ++seq) stream.Send(MakeBatch(seq, {AttemptRecord('x', 'a')}));
  EXPECT_TRUE(stream.Finish().ok());
  EXPECT_EQ(story.Query("SELECT committed_seq FROM producers"), "50");
}

TEST(Collector, RepeatsAreAcknowledgedAgain) {
  CollectorStory story;
  const v1::Batch batch = MakeBatch(1, {AttemptRecord('x', 'a'), Row('x', 1, 1)});
  for (int time = 0; time < 2; ++time) {
    TestStream stream(story.channel());
    ASSERT_TRUE(stream.Open('p'));
    stream.Send(batch);
    EXPECT_TRUE(stream.AwaitAck(2));
  }
  EXPECT_EQ(story.Query("SELECT count(*) FROM measurements"), "1");
}

struct BadStream {
  std::string name;
  v1::Batch batch;
  grpc::StatusCode code;
};

class BadBatchTest : public ::testing::TestWithParam<BadStream> {};

TEST_P(BadBatchTest, EndsWithItsStatusAndHarmsNothingElse) {
  CollectorStory story(call::Limits{.max_batch_bytes = 1000});
  TestStream good(story.channel());
  ASSERT_TRUE(good.Open('g'));
  TestStream bad(story.channel());
  ASSERT_TRUE(bad.Open('b'));
  bad.Send(GetParam().batch);
  const grpc::Status status = bad.Finish();
  EXPECT_EQ(status.error_code(), GetParam().code) << status.error_message();
  good.Send(MakeBatch(1, {RunRecord('a')}));
  EXPECT_TRUE(good.AwaitAck(1));
  EXPECT_EQ(story.Query("SELECT count(*) FROM runs"), "1");
  EXPECT_EQ(story.Query("SELECT count(*) FROM rejects"), "0");
}

std::vector<BadStream> BadStreams() {
  v1::Batch wrong_crc = MakeBatch(1, {RunRecord('b')});
  wrong_crc.set_crc32c(wrong_crc.crc32c() ^ 1);
  return {
      {"Gap", MakeBatch(2, {RunRecord('b')}), grpc::StatusCode::OUT_OF_RANGE},
      {"SeqZero", MakeBatch(0, {RunRecord('b')}), grpc::StatusCode::INVALID_ARGUMENT},
      {"SeqTwoToThe63", MakeBatch(uint64_t{1} << 63, {RunRecord('b')}), grpc::StatusCode::INVALID_ARGUMENT},
      {"LastSeqTwoToThe63", MakeBatch((uint64_t{1} << 63) - 1, {RunRecord('b'), RunRecord('c')}),
       grpc::StatusCode::INVALID_ARGUMENT},
      {"Empty", MakeBatch(1, {}), grpc::StatusCode::INVALID_ARGUMENT},
      {"TooManyRecords", MakeBatchOfBytes(1, std::vector<std::string>(65537)), grpc::StatusCode::INVALID_ARGUMENT},
      {"WrongCrc", wrong_crc, grpc::StatusCode::DATA_LOSS},
      {"Oversized", MakeBatchOfBytes(1, {std::string(1001, 'x')}), grpc::StatusCode::RESOURCE_EXHAUSTED},
  };
}

INSTANTIATE_TEST_SUITE_P(Batches, BadBatchTest, ::testing::ValuesIn(BadStreams()),
                         [](const auto& info) { return info.param.name; });

TEST(Collector, ABatchBeforeOpenIsMalformed) {
  CollectorStory story;
  TestStream stream(story.channel());
  stream.Send(MakeBatch(1, {RunRecord('a')}));
  EXPECT_EQ(stream.Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST(Collector, ASecondOpenIsMalformed) {
  CollectorStory story;
  TestStream stream(story.channel());
  ASSERT_TRUE(stream.Open('p'));
  stream.SendOpen(ProducerId('p'), 1);
  EXPECT_EQ(stream.Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST(Collector, AProducerIdOfAnotherLengthIsMalformed) {
  CollectorStory story;
  TestStream stream(story.channel());
  stream.SendOpen("short", 1);
  EXPECT_EQ(stream.Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST(Collector, BadRecordsGoToTheRejectsAndTheLogGoesOn) {
  CollectorStory story;
  v1::Record no_run_id = RunRecord('a');
  no_run_id.mutable_run()->clear_run_id();
  v1::Record other_source = RunRecord('a');
  other_source.mutable_run()->set_kernel_source("something else");
  v1::Record newer_graph;
  newer_graph.mutable_ir_graph()->set_run_id(RunId('a'));
  newer_graph.mutable_ir_graph()->set_kind("device");
  newer_graph.mutable_ir_graph()->set_schema_version(2);
  std::string not_utf8 = ConfigRecord(7, "Config(a=~~~~)").SerializeAsString();
  not_utf8.replace(not_utf8.find("~~~~"), 4, "\xff\xff\xff\xff");
  const std::vector<std::string> records = {
      RunRecord('a').SerializeAsString(),
      AttemptRecord('x', 'a').SerializeAsString(),
      "garbage \xff\xff",
      Row('x', 1, std::nan("")).SerializeAsString(),
      no_run_id.SerializeAsString(),
      other_source.SerializeAsString(),
      Row('u', 1, 1).SerializeAsString(),
      newer_graph.SerializeAsString(),
      not_utf8,
      Row('x', 2, 1).SerializeAsString(),
  };
  TestStream stream(story.channel());
  ASSERT_TRUE(stream.Open('p'));
  stream.Send(MakeBatchOfBytes(1, records));
  const auto ack = stream.AwaitAck(records.size());
  ASSERT_TRUE(ack);
  std::vector<std::pair<uint64_t, v1::Reject::Reason>> refused;
  for (const auto& entry : ack->rejects()) refused.emplace_back(entry.seq(), entry.reason());
  using Refused = std::pair<uint64_t, v1::Reject::Reason>;
  EXPECT_THAT(refused, ::testing::ElementsAre(
                           Refused{3, v1::Reject::REASON_INVALID}, Refused{4, v1::Reject::REASON_INVALID},
                           Refused{5, v1::Reject::REASON_INVALID}, Refused{6, v1::Reject::REASON_CONFLICT},
                           Refused{7, v1::Reject::REASON_UNKNOWN_REFERENCE},
                           Refused{8, v1::Reject::REASON_UNSUPPORTED_VERSION}, Refused{9, v1::Reject::REASON_INVALID}));
  EXPECT_EQ(story.Query("SELECT count(*) FROM rejects"), "7");
  EXPECT_EQ(story.Query("SELECT hex(raw) FROM rejects WHERE instr(raw, CAST('garbage' AS BLOB))"),
            "6761726261676520FFFF");
  EXPECT_EQ(story.Query("SELECT count(*) FROM measurements"), "1");
}

TEST(Collector, ANewerStreamOfTheSameEpochTakesOver) {
  CollectorStory story;
  TestStream older(story.channel());
  ASSERT_TRUE(older.Open('p', 3));
  TestStream newer(story.channel());
  ASSERT_TRUE(newer.Open('p', 3));
  EXPECT_EQ(older.AwaitEnd().error_code(), grpc::StatusCode::ABORTED);
  newer.Send(MakeBatch(1, {RunRecord('a')}));
  EXPECT_TRUE(newer.AwaitAck(1));
}

TEST(Collector, AHigherEpochFencesTheOlderStream) {
  CollectorStory story;
  TestStream older(story.channel());
  ASSERT_TRUE(older.Open('p', 3));
  TestStream newer(story.channel());
  ASSERT_TRUE(newer.Open('p', 4));
  EXPECT_EQ(older.AwaitEnd().error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  TestStream again(story.channel());
  EXPECT_FALSE(again.Open('p', 3));
  EXPECT_EQ(again.AwaitEnd().error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  newer.Send(MakeBatch(1, {RunRecord('a')}));
  EXPECT_TRUE(newer.AwaitAck(1));
}

TEST(Collector, WhoIgnoresTheWindowIsToldToComeBack) {
  CollectorStory story(call::Limits{.window_bytes = 100, .retry_delay = absl::Milliseconds(1500)});
  TestStream stream(story.channel());
  ASSERT_TRUE(stream.Open('p'));
  stream.Send(MakeBatchOfBytes(1, {std::string(101, 'x')}));
  const grpc::Status status = stream.Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_DOUBLE_EQ(RetrySeconds(status), 1.5);
}

TEST(Collector, TheUnaryTwinDoesTheSame) {
  CollectorStory story;
  const auto stub = v1::IngestService::NewStub(story.channel());
  const auto ingest = [&](const v1::IngestRequest& request, v1::IngestResponse* response) {
    grpc::ClientContext context;
    return stub->Ingest(&context, request, response);
  };
  v1::IngestRequest request;
  request.mutable_open()->set_producer_id(ProducerId('p'));
  v1::IngestResponse response;
  ASSERT_TRUE(ingest(request, &response).ok());
  EXPECT_FALSE(response.has_ack());
  *request.mutable_batch() = MakeBatch(1, {RunRecord('a')});
  ASSERT_TRUE(ingest(request, &response).ok());
  EXPECT_EQ(response.ack().committed_seq(), 1u);
  *request.mutable_batch() = MakeBatch(3, {RunRecord('a')});
  EXPECT_EQ(ingest(request, &response).error_code(), grpc::StatusCode::OUT_OF_RANGE);
}

TEST(Collector, DrainingAcknowledgesWhatWasReadAndEndsStreams) {
  CollectorStory story;
  TestStream busy(story.channel());
  ASSERT_TRUE(busy.Open('p'));
  busy.Send(MakeBatch(1, {RunRecord('a')}));
  ASSERT_TRUE(busy.AwaitAck(1));
  TestStream hung(story.channel());  // neither reads nor ends
  hung.SendOpen(ProducerId('h'), 1);
  std::thread drain([&] { story.server().Drain(absl::Seconds(5)); });
  EXPECT_EQ(busy.AwaitEnd().error_code(), grpc::StatusCode::UNAVAILABLE);
  drain.join();
  EXPECT_EQ(story.Query("SELECT max(committed_seq) FROM producers"), "1");
}

TEST(Collector, AfterADiskErrorNothingIsAcknowledged) {
  storage::sqlite::PowerCutVfs vfs("collector-failing-syncs");
  CollectorStory story({}, {.vfs = vfs.name()});
  TestStream stream(story.channel());
  ASSERT_TRUE(stream.Open('p'));
  vfs.FailSyncs();
  stream.Send(MakeBatch(1, {RunRecord('a')}));
  EXPECT_FALSE(stream.AwaitAck(1));
  EXPECT_EQ(stream.Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(story.fatal_errors(), 1);
}

TEST(Collector, ManyProducersAtOnceLoseAndDoubleNothing) {
  constexpr int kProducers = 8;
  constexpr uint64_t kRows = 400;
  CollectorStory story;
  std::vector<std::thread> producers;
  for (int i = 0; i < kProducers; ++i) {
    producers.emplace_back([&story, letter = static_cast<char>('a' + i)] {
      TestStream stream(story.channel());
      ASSERT_TRUE(stream.Open(letter));
      stream.Send(MakeBatch(1, {AttemptRecord(letter, 'a')}));
      for (uint64_t seq = 1; seq <= kRows; ++seq) stream.Send(MakeBatch(1 + seq, {Row(letter, seq, 1, seq)}));
      EXPECT_TRUE(stream.AwaitAck(1 + kRows));
    });
  }
  for (std::thread& producer : producers) producer.join();
  EXPECT_EQ(story.Query("SELECT count(*) FROM measurements"), std::to_string(kProducers * kRows));
  EXPECT_EQ(story.Query("SELECT count(*) FROM configs"), std::to_string(kRows));
}

TEST(Collector, ReadersAreAnswered) {
  CollectorStory story;
  TestStream stream(story.channel());
  ASSERT_TRUE(stream.Open('p'));
  stream.Send(MakeBatch(1, {RunRecord('a'), AttemptRecord('x', 'a'), ConfigRecord(7, "Config(a=1)"), Row('x', 1, 1)}));
  ASSERT_TRUE(stream.AwaitAck(4));
  const auto stub = v1::DatasetService::NewStub(story.channel());
  {
    grpc::ClientContext context;
    v1::GetRunRequest request;
    request.set_run_id(RunId('a'));
    v1::RunSummary run;
    ASSERT_TRUE(stub->GetRun(&context, request, &run).ok());
    EXPECT_EQ(run.measurements(), 1u);
    EXPECT_EQ(run.best_config(), "Config(a=1)");
  }
  {
    grpc::ClientContext context;
    v1::GetRunRequest request;
    request.set_run_id(RunId('b'));
    v1::RunSummary run;
    EXPECT_EQ(stub->GetRun(&context, request, &run).error_code(), grpc::StatusCode::NOT_FOUND);
  }
  grpc::ClientContext context;
  auto reader = stub->Export(&context, {});
  v1::ExportItem item;
  std::vector<v1::ExportItem::KindCase> kinds;
  while (reader->Read(&item)) kinds.push_back(item.kind_case());
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_THAT(kinds, ::testing::ElementsAre(v1::ExportItem::kTotals, v1::ExportItem::kRun, v1::ExportItem::kAttempt,
                                            v1::ExportItem::kConfigs, v1::ExportItem::kRows));
}

TEST(Collector, DetailsAreStoredAndServed) {
  CollectorStory story;
  TestStream stream(story.channel());
  ASSERT_TRUE(stream.Open('p'));
  stream.Send(MakeBatch(1, {AttemptRecord('x', 'a'), Row('x', 1, 1), DetailRecord('x', 1), DetailRecord('y', 1)}));
  const auto ack = stream.AwaitAck(4);
  ASSERT_TRUE(ack);
  ASSERT_EQ(ack->rejects_size(), 1);
  EXPECT_EQ(ack->rejects(0).seq(), 4u);
  auto stub = v1::DatasetService::NewStub(story.channel());
  for (const bool details : {false, true}) {
    grpc::ClientContext context;
    v1::ExportRequest request;
    request.set_details(details);
    auto reader = stub->Export(&context, request);
    v1::ExportItem item;
    int found = 0;
    while (reader->Read(&item)) found += item.rows().details_size();
    EXPECT_TRUE(reader->Finish().ok());
    EXPECT_EQ(found, details ? 1 : 0);
  }
}

TEST(Collector, HealthIsServed) {
  CollectorStory story;
  for (const std::string service : {"", "\x0a\x1atelemetry.v1.IngestService"}) {
    const CallOutcome answer = CallAnything(story.channel(), "/grpc.health.v1.Health/Check", service);
    ASSERT_TRUE(answer.status.ok());
    EXPECT_EQ(answer.response, std::string("\x08\x01")) << "status: SERVING";
  }
}

TEST(Collector, ReflectionListsTheServices) {
  CollectorStory story;
  const std::string list_services = "\x3a\x01*";
  const std::string method = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
  const CallOutcome answer = CallAnything(story.channel(), method, list_services);
  ASSERT_TRUE(answer.status.ok());
  EXPECT_THAT(answer.response, HasSubstr("telemetry.v1.IngestService"));
  EXPECT_THAT(answer.response, HasSubstr("telemetry.v1.DatasetService"));
}

// The names are documented in deploy/OPERATING.md.
std::vector<std::string> ThreadNames() {
  std::vector<std::string> names;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::getline(std::ifstream(task.path() / "comm"), names.emplace_back());
  }
  return names;
}

TEST(Collector, ItsThreadsHaveNames) {
  CollectorStory story;
  TestStream stream(story.channel());
  ASSERT_TRUE(stream.Open('p'));
  const auto all = IsSupersetOf({"calls", "writer", "parser", "admission"});
  // A thread names itself when it first runs.
  const absl::Time deadline = absl::Now() + absl::Seconds(60);
  while (!testing::Matches(all)(ThreadNames()) && absl::Now() < deadline) std::this_thread::yield();
  EXPECT_THAT(ThreadNames(), all);
}

TEST(Collector, ATakenPortIsSaid) {
  TempFolder folder;
  const auto start = [&folder](const std::string& db, const std::string& listen) {
    ServerOptions options{.db = folder.File(db), .listen = listen, .limits = {}, .writer = {}, .on_fatal = {}};
    return CollectorServer::Start(options);
  };
  absl::StatusOr<std::unique_ptr<CollectorServer>> first = start("1.db", "127.0.0.1:0");
  ASSERT_TRUE(first.ok()) << first.status();
  const std::string taken = "127.0.0.1:" + std::to_string((*first)->port());
  EXPECT_TRUE(absl::IsUnavailable(start("2.db", taken).status()));
}

}  // namespace
}  // namespace telemetry::collector
