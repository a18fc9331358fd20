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

// Returns the delay of a RESOURCE_EXHAUSTED in seconds, or -1 if it has no RetryInfo.
double RetrySeconds(const grpc::Status& status);

// Returns a batch with the correct CRC.
v1::Batch MakeBatch(uint64_t first_seq, const std::vector<v1::Record>& records);
v1::Batch MakeBatchOfBytes(uint64_t first_seq, const std::vector<std::string>& records);

// A blocking stream of one producer.
class TestStream {
 public:
  // `token`: sent to the collector; empty: none.
  explicit TestStream(const std::shared_ptr<grpc::Channel>& channel, const std::string& token = "");
  // Cancels the stream, as a client that disconnects.
  ~TestStream();

  // Sends Open and returns Opened, or nullopt if the stream ended instead.
  std::optional<v1::Opened> Open(char producer, uint64_t epoch = 1);
  void SendOpen(const std::string& producer_id, uint64_t epoch);
  void Send(const v1::Batch& batch);
  // Reads Acks until `seq` is committed, and returns them merged. Returns nullopt if the stream ended first.
  std::optional<v1::Ack> AwaitAck(uint64_t seq);
  // Half-closes, reads the remaining messages and returns the end status.
  grpc::Status Finish();
  // Reads the remaining messages and returns the end status, without a half-close: the collector ends the stream.
  grpc::Status AwaitEnd();

 private:
  grpc::ClientContext context_;
  std::unique_ptr<v1::IngestService::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::StreamRequest, v1::StreamResponse>> stream_;
  bool finished_ = false;
};

// A running collector with its own dataset and without a port.
class CollectorStory {
 public:
  explicit CollectorStory(call::Limits limits = {}, storage::sqlite::WriterOptions writer = {});
  // Starts with these options, except for `db` and `on_fatal`.
  explicit CollectorStory(ServerOptions options);

  CollectorServer& server() { return *server_; }
  std::shared_ptr<grpc::Channel> channel() { return server_->InProcessChannel(); }
  // Returns the first column of a query's first row.
  std::string Query(const std::string& sql) const;
  int64_t fatal_errors() const { return fatal_errors_; }

 private:
  TempFolder folder_;
  const std::string path_;
  std::atomic<int64_t> fatal_errors_ = 0;
  std::unique_ptr<CollectorServer> server_;
};

}  // namespace telemetry::collector
