#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/access/gate.h"
#include "server/cache/put_admission.h"
#include "server/call/raw_service.h"
#include "server/call/running_calls.h"
#include "server/dataset/fair_pool.h"
#include "server/dataset/reader_pool.h"
#include "server/storage/store.h"
#include "server/writer/writer_loop.h"

namespace telemetry::models {

// The implementation of ModelService in models.proto. Two threads of its own, on which senders take turns, list and
// read models; the writer thread stores and removes them.
class ModelService final : public call::RawService {
 public:
  // The most readers in use at a time.
  static constexpr int kMostReaders = 2;

  struct Options {
    absl::Duration request_timeout = absl::InfiniteDuration();
    absl::Duration unread_timeout = absl::InfiniteDuration();
    absl::Duration retry_delay = absl::Seconds(1);
    uint64_t most_model_bytes = storage::ModelBudget().model_bytes;
    // A sender may send the largest model at once, and then one in eight seconds.
    cache::PutAdmission::Options puts = {.waiting_bytes = uint64_t{8} << 20,
                                         .bytes_per_second = uint64_t{2} << 20,
                                         .burst_bytes = uint64_t{20} << 20,
                                         .least_bytes = uint64_t{64} << 10,
                                         .too_much = "this sender stores too many or too large models"};
  };

  // `writer`, `readers`, `gate` and `calls` must outlive the service.
  ModelService(writer::WriterLoop& writer, dataset::ReaderPool& readers, access::Gate& gate, call::RunningCalls& calls,
               const Options& options);

 private:
  // Adds a unary method that returns the result of read(reader, request), on a thread of the pool.
  template <typename Request, typename Response>
  void AddRead(const char* method, absl::StatusOr<Response> (storage::StoreReader::*read)(const Request& request));

  dataset::ReaderPool& readers_;
  access::Gate& gate_;
  const Options options_;
  cache::PutAdmission admission_;
  dataset::FairPool pool_;
};

}  // namespace telemetry::models
