#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "telemetry/v1/ingest.grpc.pb.h"

namespace telemetry::faults {

// A producer that sends batches in sequence with unary calls, over a separate connection. Not thread-safe.
class UnaryProducer {
 public:
  // `address`: HOST:PORT of the collector.
  UnaryProducer(const std::string& address, std::string producer_id);

  // Sends the records; returns the number of refused ones, or nullopt if the call failed. After a failure, the next
  // batch uses the same sequence numbers.
  std::optional<int> Send(const std::vector<v1::Record>& records);
  std::optional<int> SendBytes(const std::vector<std::string>& records);

  // Waits up to `patience` for a connection, then sends one batch. Returns the call's status.
  grpc::Status Send(const v1::Batch& batch, absl::Duration patience, v1::IngestResponse* response);

 private:
  const std::unique_ptr<v1::IngestService::Stub> stub_;
  const std::string producer_id_;
  uint64_t next_seq_ = 1;
};

}  // namespace telemetry::faults
