// Tests a collector whose disk is nearly full: it refuses new records, reports the reason, serves readers, and resumes
// by itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "telemetry/v1/dataset.grpc.pb.h"
#include "tests/server/collector/any_call.h"
#include "tests/server/collector/collector_story.h"

namespace telemetry::collector {
namespace {

using storage::RunRecord;
using ::testing::HasSubstr;

constexpr uint64_t kMebibyte = uint64_t{1} << 20;
constexpr char kServing[] = "\x08\x01";
constexpr char kNotServing[] = "\x08\x02";

class NearlyFullDiskTest : public ::testing::Test {
 protected:
  std::string Health(const std::string& service) {
    std::string request;
    if (!service.empty()) request = std::string("\x0a") + static_cast<char>(service.size()) + service;
    return CallAnything(story_.channel(), "/grpc.health.v1.Health/Check", request).response;
  }
  void AwaitRoom() {
    while (Health("") != kServing) continue;
  }

  std::atomic<uint64_t> free_bytes_ = 100 * kMebibyte;
  CollectorStory story_{ServerOptions{.limits = {.retry_delay = absl::Seconds(7), .keep_free_bytes = 80 * kMebibyte},
                                      .free_disk_bytes = [this](const std::string&) { return free_bytes_.load(); }}};
};

TEST_F(NearlyFullDiskTest, AnOpenStreamIsToldToComeBackAndLosesNothing) {
  TestStream stream(story_.channel());
  ASSERT_TRUE(stream.Open('p'));
  stream.Send(MakeBatch(1, {RunRecord('a')}));
  ASSERT_TRUE(stream.AwaitAck(1));
  free_bytes_ = 79 * kMebibyte;
  stream.Send(MakeBatch(2, {RunRecord('b')}));
  const grpc::Status end = stream.AwaitEnd();
  EXPECT_EQ(end.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(RetrySeconds(end), 7);
  EXPECT_THAT(end.error_message(), HasSubstr("79.0 MiB free"));
  EXPECT_EQ(story_.Query("SELECT count(*) FROM runs"), "1");

  free_bytes_ = 100 * kMebibyte;
  AwaitRoom();
  TestStream again(story_.channel());
  ASSERT_TRUE(again.Open('p'));
  again.Send(MakeBatch(2, {RunRecord('b')}));
  EXPECT_TRUE(again.AwaitAck(2));
}

TEST_F(NearlyFullDiskTest, TheUnaryCallIsTurnedAwayToo) {
  free_bytes_ = 0;
  const auto stub = v1::IngestService::NewStub(story_.channel());
  for (int call = 0; call < 2; ++call) {
    grpc::ClientContext context;
    v1::IngestRequest request;
    request.mutable_open()->set_producer_id(ProducerId('u'));
    *request.mutable_batch() = MakeBatch(1, {RunRecord('a')});
    v1::IngestResponse response;
    const grpc::Status status = stub->Ingest(&context, request, &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED)
        << "every call is rejected, not only the first";
    EXPECT_EQ(RetrySeconds(status), 7);
  }
  EXPECT_EQ(story_.Query("SELECT count(*) FROM producers"), "0") << "opening a producer writes to the disk, too";
}

TEST_F(NearlyFullDiskTest, HealthSaysSoButForReadersAndTheyAreAnswered) {
  const std::string ingest = "telemetry.v1.IngestService";
  const std::string dataset = "telemetry.v1.DatasetService";
  for (const std::string& service : {std::string(), ingest, dataset}) EXPECT_EQ(Health(service), kServing) << service;
  free_bytes_ = 0;
  EXPECT_FALSE(TestStream(story_.channel()).Open('p'));
  EXPECT_EQ(Health(""), kNotServing);
  EXPECT_EQ(Health(ingest), kNotServing);
  EXPECT_EQ(Health(dataset), kServing);
  grpc::ClientContext context;
  v1::ListRunsResponse runs;
  EXPECT_TRUE(v1::DatasetService::NewStub(story_.channel())->ListRuns(&context, {}, &runs).ok());

  free_bytes_ = 100 * kMebibyte;
  AwaitRoom();
  for (const std::string& service : {std::string(), ingest, dataset}) EXPECT_EQ(Health(service), kServing) << service;
}

}  // namespace
}  // namespace telemetry::collector
