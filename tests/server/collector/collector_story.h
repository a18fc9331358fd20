#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/collector/collector_server.h"
#include "telemetry/v1/ingest.grpc.pb.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::collector {

std::string ProducerId(char letter);

// The advice in a RESOURCE_EXHAUSTED; -1: there is none.
double RetrySeconds(const grpc::Status& status);

// A batch with the right CRC.
v1::Batch MakeBatch(uint64_t first_seq, const std::vector<v1::Record>& records);
v1::Batch MakeBatchOfBytes(uint64_t first_seq, const std::vector<std::string>& records);

// One producer's stream, blocking.
class TestStream {
 public:
  // `token`: shown to the collector; empty: none is.
  explicit TestStream(const std::shared_ptr<grpc::Channel>& channel, const std::string& token = "");
  // Ends it, as a client that goes away.
  ~TestStream();

  // Sends Open and returns the answer; nothing when the stream ended instead.
  std::optional<v1::Opened> Open(char producer, uint64_t epoch = 1);
  void SendOpen(const std::string& producer_id, uint64_t epoch);
  void Send(const v1::Batch& batch);
  // Reads Acks until `seq` is committed. Nothing: the stream ended.
  std::optional<v1::Ack> AwaitAck(uint64_t seq);
  // Half-closes, reads what is left and returns the end status.
  grpc::Status Finish();
  // The same without the half-close: the collector ends the stream.
  grpc::Status AwaitEnd();

 private:
  grpc::ClientContext context_;
  std::unique_ptr<v1::IngestService::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::StreamRequest, v1::StreamResponse>> stream_;
  bool finished_ = false;
};

// A running collector over a dataset of its own, without a port.
class CollectorStory {
 public:
  explicit CollectorStory(Limits limits = {}, storage::WriterOptions writer = {});
  // With these options, but for db and on_fatal.
  explicit CollectorStory(ServerOptions options);

  CollectorServer& server() { return *server_; }
  std::shared_ptr<grpc::Channel> channel() { return server_->InProcessChannel(); }
  // The first column of a query's first row.
  std::string Query(const std::string& sql) const;
  int64_t fatal_errors() const { return fatal_errors_; }

 private:
  storage::TempFolder folder_;
  const std::string path_;
  std::atomic<int64_t> fatal_errors_ = 0;
  std::unique_ptr<CollectorServer> server_;
};

}  // namespace telemetry::collector
