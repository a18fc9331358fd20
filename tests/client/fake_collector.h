#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "grpcpp/server.h"
#include "telemetry/v1/ingest.grpc.pb.h"

namespace telemetry::client {

// A collector in the test's process that keeps its logs in memory and follows the rules of ingest.proto. Tests make it
// misbehave. Thread-safe.
class FakeCollector final : public v1::IngestService::Service {
 public:
  // The treatment of the next batch.
  enum class Act {
    kAck,       // stored and acknowledged
    kRefuse,    // stored and acknowledged, each record in the rejects
    kCutAfter,  // stored, but the stream ends before the acknowledgement
    kWrongCrc,  // DATA_LOSS, nothing stored
    kGap,       // OUT_OF_RANGE, nothing stored
    kFence,     // FAILED_PRECONDITION, nothing stored
    kTwin,      // ABORTED, nothing stored
    kOverload,  // RESOURCE_EXHAUSTED, nothing stored
    kRest,      // stored and acknowledged; the stream ends as an idle one does
    kSwallow,   // stored, never acknowledged on this stream
  };

  // Listens on a socket in `folder`.
  explicit FakeCollector(const std::string& folder) : address_("unix:" + folder + "/collector.sock") {}
  ~FakeCollector() override { Stop(); }

  void Start();
  void Stop();
  const std::string& address() const { return address_; }

  void OnNextBatches(std::deque<Act> acts);
  void OnNextOpens(std::deque<grpc::Status> refusals);
  // Refuses later streams without this token.
  void RequireToken(std::string token);
  // Sets the request id that the collector sends to later streams.
  void SetRequestId(std::string id);
  void SetWindow(uint64_t window_bytes, uint64_t max_batch_bytes);
  // Replaces the database by another, empty one.
  void ReplaceDatabase();
  // Truncates all logs, as in an older copy of the database.
  void RollBack(uint64_t committed_seq);
  // Pretends that the collector has stored records that the producer has lost since.
  void Pretend(const std::string& producer_id, uint64_t committed_seq);

  // Blocks until `count` runs are stored. Returns the kernel names of all stored runs in the order of arrival.
  std::vector<std::string> AwaitStored(size_t count);
  void AwaitOpens(size_t count);
  std::vector<v1::Open> opens() const;
  std::vector<absl::Time> open_times() const;
  uint64_t largest_batch() const;
  uint64_t most_unacked() const;

 private:
  using Stream_ = grpc::ServerReaderWriter<v1::StreamResponse, v1::StreamRequest>;

  // The state of one producer's log.
  struct Log {
    uint64_t epoch = 0;
    uint64_t committed_seq = 0;
  };

  grpc::Status Stream(grpc::ServerContext* context, Stream_* stream) override;
  grpc::Status CheckToken(const grpc::ServerContext& context);
  grpc::Status HandleOpen(const v1::Open& open, v1::StreamResponse* response);
  grpc::Status HandleBatch(const v1::Open& open, const v1::Batch& batch, uint64_t* unacked,
                           v1::StreamResponse* response);
  void Store(const v1::Batch& batch, Log* log, v1::Ack* rejects) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string address_;
  std::unique_ptr<grpc::Server> server_;

  mutable absl::Mutex mutex_;
  std::map<std::string, Log> logs_ ABSL_GUARDED_BY(mutex_);
  std::string dataset_id_ ABSL_GUARDED_BY(mutex_) = std::string(16, 'A');
  std::vector<std::string> stored_ ABSL_GUARDED_BY(mutex_);
  std::string request_id_ ABSL_GUARDED_BY(mutex_);  // empty: not sent
  std::string token_ ABSL_GUARDED_BY(mutex_);       // empty: none is required
  std::deque<Act> acts_ ABSL_GUARDED_BY(mutex_);
  std::deque<grpc::Status> refusals_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::Open> opens_ ABSL_GUARDED_BY(mutex_);
  std::vector<absl::Time> open_times_ ABSL_GUARDED_BY(mutex_);
  uint64_t window_bytes_ ABSL_GUARDED_BY(mutex_) = 1 << 20;
  uint64_t max_batch_bytes_ ABSL_GUARDED_BY(mutex_) = 1 << 20;
  uint64_t largest_batch_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t most_unacked_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace telemetry::client
