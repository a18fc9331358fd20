#pragma once

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/access/gate.h"
#include "server/call/raw_service.h"
#include "server/call/running_calls.h"
#include "server/dataset/export_call.h"
#include "server/dataset/fair_pool.h"
#include "server/dataset/reader_pool.h"
#include "server/storage/store.h"

namespace telemetry::dataset {

// The implementation of DatasetService in dataset.proto. Calls use readers on the service's own threads, and clients
// take turns: short queries do not wait behind exports, and neither blocks the ingest.
class DatasetService final : public call::RawService {
 public:
  // The most readers in use at a time.
  static constexpr int kMostReaders = 6;

  struct Options {
    absl::Duration request_timeout = absl::InfiniteDuration();
    absl::Duration unread_timeout = absl::InfiniteDuration();
    absl::Duration export_timeout = absl::InfiniteDuration();
    absl::Duration retry_delay = absl::Seconds(1);
  };

  // `readers`, `gate` and `calls` must outlive the service.
  DatasetService(ReaderPool& readers, access::Gate& gate, call::RunningCalls& calls, const Options& options);

  // The number of exports that ended so far because they took too long, or because the client did not read.
  uint64_t overdue_exports() const { return overdue_exports_; }

 private:
  template <typename Request, typename Response>
  class Question;

  // Adds a unary method that returns the result of ask(reader, request).
  template <typename Request, typename Response>
  void AddQuestion(const char* method, absl::StatusOr<Response> (*ask)(storage::StoreReader&, const Request&));
  void OnExportEnd(const access::Caller& caller, const absl::Status& status);

  ReaderPool& readers_;
  access::Gate& gate_;
  const Options options_;
  std::atomic<uint64_t> overdue_exports_ = 0;
  FairPool question_pool_;
  FairPool export_pool_;
};

}  // namespace telemetry::dataset
