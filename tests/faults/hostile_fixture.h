// Common parts of the tests of hostile clients: a well-behaved client, and a fixture with one collector per test.
//
// TELEMETRY_FAULTS: 50 (the default) is the value of tests/run; from 1000 on, sizes and times are those of production.
#pragma once

#include <grpcpp/client_context.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "telemetry/v1/ingest.grpc.pb.h"
#include "tests/bench/bench_ingest/collector_process.h"
#include "tests/faults/attacks/attack.h"
#include "tests/faults/attacks/messages.h"

namespace telemetry::faults {

// The most memory that a collector may use under any behaviour of its clients, in MiB.
inline constexpr double kMemoryMib = 256;

// A well-behaved producer that sends one small batch at a time.
class GoodClient {
 public:
  explicit GoodClient(const std::string& address);
  ~GoodClient();

  bool Send();
  // Returns the last acknowledged sequence number, of this stream or an earlier one.
  uint64_t acknowledged() const { return seq_; }
  // Sends `batches` batches and returns the 99th percentile of the time to an Ack, in milliseconds.
  double P99Ms(int batches);

 private:
  grpc::ClientContext context_;
  std::unique_ptr<v1::IngestService::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::StreamRequest, v1::StreamResponse>> stream_;
  uint64_t seq_ = 0;
};

// Returns the collector's environment with time limits that are short enough for a test; at full size, with those of
// production.
std::vector<std::string> ShortTimes(int seconds = 3);

// Returns the time within which the collector closes the connection of a dead client.
absl::Duration MostTime();

// Sends one batch as a new producer, over a connection of its own, and returns the time until its Ack. If that takes
// longer than `patience`, the test fails and the result is infinite.
absl::Duration ServeNewClient(const std::string& address, absl::Duration patience);

// A collector, and the attackers and well-behaved clients that connect to it.
class HostileTest : public testing::Test {
 protected:
  HostileTest();
  ~HostileTest() override;

  void Start(const std::vector<std::string>& environment = {}, uint64_t max_files = 0);
  int port() const { return collector_->port(); }
  void ExpectSmallAndServing();

  std::string folder_;
  std::unique_ptr<bench::CollectorProcess> collector_;
};

}  // namespace telemetry::faults
