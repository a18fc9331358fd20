#include "tests/server/collector/collector_story.h"

#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "proto/record/ids.h"
#include "server/storage/sql/statement.h"
#include "server/storage/sqlite/sqlite_database.h"
#include "telemetry/v1/status.pb.h"

namespace telemetry::collector {

double RetrySeconds(const grpc::Status& status) {
  v1::RpcStatus details;
  v1::RetryInfo info;
  if (!details.ParseFromString(status.error_details()) || details.details_size() != 1) return -1;
  if (details.details(0).type_url() != "type.googleapis.com/google.rpc.RetryInfo") return -1;
  if (!info.ParseFromString(details.details(0).value())) return -1;
  return static_cast<double>(info.retry_delay().seconds()) + info.retry_delay().nanos() * 1e-9;
}

std::string ProducerId(char letter) { return std::string(16, letter); }

v1::Batch MakeBatchOfBytes(uint64_t first_seq, const std::vector<std::string>& records) {
  v1::Batch batch;
  batch.set_first_seq(first_seq);
  uint32_t crc = 0;
  for (const std::string& record : records) {
    batch.add_records(record);
    crc = record::Crc32c(crc, record);
  }
  batch.set_crc32c(crc);
  return batch;
}

v1::Batch MakeBatch(uint64_t first_seq, const std::vector<v1::Record>& records) {
  std::vector<std::string> bytes;
  for (const v1::Record& record : records) bytes.push_back(record.SerializePartialAsString());
  return MakeBatchOfBytes(first_seq, bytes);
}

TestStream::TestStream(const std::shared_ptr<grpc::Channel>& channel, const std::string& token)
    : stub_(v1::IngestService::NewStub(channel)) {
  // Without this deadline, a stream that fails to end would block its test.
  context_.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(90)));
  if (!token.empty()) context_.AddMetadata("authorization", "Bearer " + token);
  stream_ = stub_->Stream(&context_);
}

TestStream::~TestStream() {
  if (finished_) return;
  context_.TryCancel();
  stream_->Finish();
}

void TestStream::SendOpen(const std::string& producer_id, uint64_t epoch) {
  v1::StreamRequest request;
  request.mutable_open()->set_producer_id(producer_id);
  request.mutable_open()->set_epoch(epoch);
  stream_->Write(request);
}

std::optional<v1::Opened> TestStream::Open(char producer, uint64_t epoch) {
  SendOpen(ProducerId(producer), epoch);
  v1::StreamResponse response;
  if (!stream_->Read(&response)) return std::nullopt;
  return response.opened();
}

void TestStream::Send(const v1::Batch& batch) {
  v1::StreamRequest request;
  *request.mutable_batch() = batch;
  stream_->Write(request);
}

std::optional<v1::Ack> TestStream::AwaitAck(uint64_t seq) {
  v1::Ack all;
  v1::StreamResponse response;
  while (all.committed_seq() < seq) {
    if (!stream_->Read(&response)) return std::nullopt;
    all.MergeFrom(response.ack());
  }
  return all;
}

grpc::Status TestStream::Finish() {
  stream_->WritesDone();
  return AwaitEnd();
}

grpc::Status TestStream::AwaitEnd() {
  v1::StreamResponse response;
  while (stream_->Read(&response)) {
  }
  finished_ = true;
  return stream_->Finish();
}

CollectorStory::CollectorStory(call::Limits limits, storage::sqlite::WriterOptions writer)
    : CollectorStory(ServerOptions{.limits = limits, .writer = std::move(writer)}) {}

CollectorStory::CollectorStory(ServerOptions options) : path_(folder_.File("dataset.db")) {
  options.db = path_;
  options.on_fatal = [this](const absl::Status&) { ++fatal_errors_; };
  absl::StatusOr<std::unique_ptr<CollectorServer>> server = CollectorServer::Start(options);
  EXPECT_TRUE(server.ok()) << server.status();
  server_ = *std::move(server);
}

std::string CollectorStory::Query(const std::string& sql) const {
  absl::StatusOr<storage::sqlite::SqliteDatabase> database =
      storage::sqlite::SqliteDatabase::Open(path_, {.read_only = true});
  if (!database.ok()) return database.status().ToString();
  storage::sql::Statement query(*database, sql.c_str());
  absl::StatusOr<bool> row = query.Step();
  if (!row.ok()) return row.status().ToString();
  return *row ? std::string(query.Text(0)) : "(no row)";
}

}  // namespace telemetry::collector
