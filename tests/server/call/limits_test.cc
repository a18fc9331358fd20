// Tests each limit of serve on a collector with a low limit.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <list>
#include <optional>
#include <string>
#include <vector>

#include "proto/record/record_limit.h"
#include "tests/server/collector/any_call.h"
#include "tests/server/collector/collector_story.h"

namespace telemetry::collector {
namespace {

using storage::AttemptRecord;
using storage::ConfigRecord;
using storage::RunRecord;
using ::testing::HasSubstr;

TEST(Limits, AStreamThatDoesNotSayWhoseItIsEnds) {
  CollectorStory story(call::Limits{.open_timeout = absl::Milliseconds(50)});
  TestStream stream(story.channel());
  const grpc::Status status = stream.AwaitEnd();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED) << status.error_message();
}

// Returns the end status of a stream that sends nothing after its first Ack, or nullopt if the stream ended before the
// Ack because this machine took longer than `timeout` for the batch.
std::optional<grpc::Status> EndOfSilentStream(absl::Duration timeout) {
  CollectorStory story(call::Limits{.stream_idle_timeout = timeout});
  TestStream stream(story.channel());
  if (!stream.Open('p')) return std::nullopt;
  stream.Send(MakeBatch(1, {RunRecord('a')}));
  if (!stream.AwaitAck(1)) return std::nullopt;
  return stream.AwaitEnd();
}

TEST(Limits, AStreamThatSaysNothingEnds) {
  std::optional<grpc::Status> status;
  for (absl::Duration timeout = absl::Milliseconds(50); !status && timeout < absl::Minutes(1); timeout *= 4) {
    status = EndOfSilentStream(timeout);
  }
  ASSERT_TRUE(status) << "no batch was acknowledged";
  EXPECT_EQ(status->error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_THAT(status->error_message(), HasSubstr("stream_idle_timeout"));
}

TEST(Limits, ACallWhoseRequestDoesNotComeEnds) {
  CollectorStory story(
      call::Limits{.open_timeout = absl::Milliseconds(50), .stream_idle_timeout = absl::Milliseconds(50)});
  for (const char* method : {"/telemetry.v1.IngestService/Ingest", "/telemetry.v1.DatasetService/ListRuns",
                             "/telemetry.v1.DatasetService/Export", "/grpc.health.v1.Health/Check"}) {
    const grpc::Status status = SilentCall(story.channel(), method).AwaitEnd();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED) << method;
    EXPECT_THAT(status.error_message(), HasSubstr("request did not arrive")) << method;
  }
}

// Without a token the sender is the address, which may have half of the calls.
TEST(Limits, ACallCountsFromItsHeaders) {
  constexpr char kListRuns[] = "/telemetry.v1.DatasetService/ListRuns";
  CollectorStory story(call::Limits{.max_streams = 6});
  std::list<SilentCall> silent;
  for (const char* method : {"/telemetry.v1.IngestService/Ingest", "/telemetry.v1.DatasetService/GetRun",
                             "/telemetry.v1.IngestService/Stream", kListRuns}) {
    silent.emplace_back(story.channel(), method);
  }
  CallOutcome outcome;
  for (int attempt = 0; attempt < 10000 && outcome.status.ok(); ++attempt) {
    outcome = CallAnything(story.channel(), kListRuns, "");
  }
  EXPECT_EQ(outcome.status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << "the fifth call was admitted";
  EXPECT_EQ(RetrySeconds(outcome.status), 1);
  EXPECT_TRUE(CallAnything(story.channel(), "/grpc.health.v1.Health/Check", "").status.ok()) << "has its own limit";
  EXPECT_TRUE(CallAnything(story.channel(), "/telemetry.v1.DatasetService/Export", "").status.ok())
      << "has its own limit";
  silent.clear();
  for (int attempt = 0; attempt < 10000 && !outcome.status.ok(); ++attempt) {
    outcome = CallAnything(story.channel(), kListRuns, "");
  }
  EXPECT_TRUE(outcome.status.ok()) << "cancelled calls still count";
}

TEST(Limits, AStreamTooManyIsToldToComeBack) {
  CollectorStory story(call::Limits{.max_streams = 1});
  {
    TestStream first(story.channel());
    ASSERT_TRUE(first.Open('p'));
    TestStream second(story.channel());
    const grpc::Status status = second.AwaitEnd();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_FALSE(status.error_details().empty()) << "RetryInfo";
  }
  // The first stream's place becomes free when the collector has noticed the end of the stream.
  bool served = false;
  for (int attempt = 0; attempt < 10000 && !served; ++attempt) {
    TestStream third(story.channel());
    served = third.Open('q').has_value();
  }
  EXPECT_TRUE(served);
}

TEST(Limits, AStreamTooManyOfOneProducerIsToldToComeBack) {
  CollectorStory story(call::Limits{.max_streams_per_producer = 1});
  TestStream first(story.channel());
  ASSERT_TRUE(first.Open('p'));
  TestStream second(story.channel());
  EXPECT_FALSE(second.Open('p'));
  EXPECT_EQ(second.AwaitEnd().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  TestStream another(story.channel());
  EXPECT_TRUE(another.Open('q'));
  first.Send(MakeBatch(1, {RunRecord('a')}));
  EXPECT_TRUE(first.AwaitAck(1));
}

// Sends four thousand bytes at one byte per second: the next message would be read after an hour.
TEST(Limits, AProducerThatIsTooFastIsNotReadFromAndCanStillBeEnded) {
  CollectorStory story(call::Limits{.producer_bytes_per_second = 1});
  TestStream fast(story.channel());
  ASSERT_TRUE(fast.Open('p'));
  fast.Send(MakeBatchOfBytes(1, {std::string(4000, 'x')}));
  EXPECT_TRUE(fast.AwaitAck(1)) << "what was read is committed";
  TestStream other(story.channel());
  ASSERT_TRUE(other.Open('q'));
  other.Send(MakeBatchOfBytes(1, {"x"}));
  EXPECT_TRUE(other.AwaitAck(1)) << "others are not slowed";

  const auto stub = v1::IngestService::NewStub(story.channel());
  grpc::ClientContext context;
  v1::IngestRequest request;
  request.mutable_open()->set_producer_id(ProducerId('p'));
  *request.mutable_batch() = MakeBatchOfBytes(2, {"x"});
  v1::IngestResponse response;
  EXPECT_EQ(stub->Ingest(&context, request, &response).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);

  story.server().Drain(absl::Seconds(5));
  EXPECT_EQ(fast.AwaitEnd().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST(Limits, ALongClientNameIsMalformed) {
  CollectorStory story;
  const auto stub = v1::IngestService::NewStub(story.channel());
  grpc::ClientContext context;
  v1::IngestRequest request;
  request.mutable_open()->set_producer_id(ProducerId('p'));
  request.mutable_open()->set_client(std::string(5000, 'c'));
  v1::IngestResponse response;
  EXPECT_EQ(stub->Ingest(&context, request, &response).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST(Limits, RecordsAboveTheirSizesGoToTheRejectsAndTheLogGoesOn) {
  CollectorStory story(call::Limits{.record = {.source_bytes = 100, .config_bytes = 100}});
  v1::Record source = RunRecord('a');
  source.mutable_run()->set_kernel_source(std::string(101, 's'));
  TestStream stream(story.channel());
  ASSERT_TRUE(stream.Open('p'));
  stream.Send(MakeBatch(1, {source, ConfigRecord(7, std::string(101, 'c')), AttemptRecord('x', 'a')}));
  const auto ack = stream.AwaitAck(3);
  ASSERT_TRUE(ack);
  ASSERT_EQ(ack->rejects_size(), 2);
  EXPECT_THAT(ack->rejects(0).message(), HasSubstr("--max-source-bytes"));
  EXPECT_THAT(ack->rejects(1).message(), HasSubstr("--max-config-bytes"));
  EXPECT_EQ(story.Query("SELECT count(*) FROM rejects"), "2");
  EXPECT_EQ(story.Query("SELECT count(*) FROM attempts"), "1");
}

// Returns a record of about 8 MB that uses 150 MiB in memory.
v1::Record ManyShortEdges() {
  v1::Record record;
  v1::IrGraph& graph = *record.mutable_ir_graph();
  graph.set_run_id(storage::RunId('a'));
  graph.set_kind("device");
  for (int i = 0; i < 800'000; ++i) {
    v1::IrEdge* edge = graph.add_edges();
    edge->set_source("n1");
    edge->set_target("n");
  }
  return record;
}

TEST(Limits, ARecordThatIsTooHeavyIsRejectedAloneAndTheLogGoesOn) {
  CollectorStory story;
  const std::string heavy = ManyShortEdges().SerializeAsString();
  ASSERT_LT(heavy.size(), record::kMaxRecordBytes);
  const std::string run = RunRecord('a').SerializeAsString();
  const std::string attempt = AttemptRecord('x', 'a').SerializeAsString();
  TestStream stream(story.channel());
  ASSERT_TRUE(stream.Open('p'));
  stream.Send(MakeBatchOfBytes(1, {run, heavy, attempt}));
  const auto ack = stream.AwaitAck(3);
  ASSERT_TRUE(ack) << stream.AwaitEnd().error_message();
  EXPECT_EQ(story.Query("SELECT count(*) FROM attempts"), "1");
  EXPECT_EQ(story.Query("SELECT count(*) FROM rejects"), "1");
  EXPECT_EQ(story.Query("SELECT length(raw) FROM rejects"), std::to_string(heavy.size()));

  const auto stub = v1::IngestService::NewStub(story.channel());
  grpc::ClientContext context;
  v1::IngestRequest request;
  request.mutable_open()->set_producer_id(ProducerId('u'));
  *request.mutable_batch() = MakeBatchOfBytes(1, {run, heavy, attempt});
  v1::IngestResponse response;
  const grpc::Status status = stub->Ingest(&context, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.ack().committed_seq(), 3u);
  EXPECT_EQ(response.ack().rejects_size(), 1);
}

// Sends records that are small enough one by one, but together exceed the memory of a piece.
TEST(Limits, ABatchThatIsHeavyIsStoredInPieces) {
  CollectorStory story;
  std::vector<v1::Record> records;
  for (char run : std::string("abcdef0123456789abcdef0123456789")) {
    v1::Record& record = records.emplace_back();
    record.mutable_ir_graph()->set_run_id(storage::RunId(run));
    record.mutable_ir_graph()->set_kind(records.size() <= 16 ? "device" : "wrapper");
    for (int i = 0; i < 24'000; ++i) {
      v1::IrEdge* edge = record.mutable_ir_graph()->add_edges();
      edge->set_source("n1");
      edge->set_target("n");
    }
  }
  TestStream stream(story.channel());
  ASSERT_TRUE(stream.Open('p'));
  stream.Send(MakeBatch(1, records));
  const auto ack = stream.AwaitAck(records.size());
  ASSERT_TRUE(ack) << stream.AwaitEnd().error_message();
  EXPECT_EQ(ack->rejects_size(), 0);
  EXPECT_EQ(story.Query("SELECT count(*) FROM ir_graphs"), "32");
  EXPECT_EQ(story.Query("SELECT count(*) FROM ir_edges"), std::to_string(32 * 24'000));
}

}  // namespace
}  // namespace telemetry::collector
