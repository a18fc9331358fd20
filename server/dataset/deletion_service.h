#pragma once

#include <memory>
#include <utility>

#include "server/access/gate.h"
#include "server/call/raw_service.h"
#include "server/call/running_calls.h"
#include "server/dataset/deletion_call.h"
#include "server/dataset/fair_pool.h"
#include "server/dataset/page_call.h"
#include "server/dataset/reader_pool.h"
#include "server/writer/writer_loop.h"

namespace telemetry::dataset {

// The implementation of DeletionService in deletion.proto.
class DeletionService final : public call::RawService {
 public:
  // The most readers in use at a time.
  static constexpr int kMostReaders = 1;

  struct Options {
    absl::Duration request_timeout = absl::InfiniteDuration();
    absl::Duration unread_timeout = absl::InfiniteDuration();
    absl::Duration call_timeout = absl::InfiniteDuration();
  };

  // `writer`, `readers`, `gate` and `calls` must outlive the service.
  DeletionService(writer::WriterLoop& writer, ReaderPool& readers, access::Gate& gate, call::RunningCalls& calls,
                  const Options& options)
      : call::RawService(calls) {
    AddMethod(DeletionCall::kMethod, call::CallKind::kOther,
              [this, &writer, &readers, &gate, options](call::AdmittedCall call) {
                const PageCallContext context = {.pool = pool_,
                                                 .readers = readers,
                                                 .request_timeout = options.request_timeout,
                                                 .unread_timeout = options.unread_timeout,
                                                 .call_timeout = options.call_timeout};
                return std::make_shared<DeletionCall>(context, std::move(call), writer, gate);
              });
  }

 private:
  FairPool pool_{{.threads = kMostReaders}};
};

}  // namespace telemetry::dataset
