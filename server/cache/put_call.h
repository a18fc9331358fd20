#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "server/access/gate.h"
#include "server/cache/put_admission.h"
#include "server/call/unary_call.h"
#include "server/writer/writer_loop.h"
#include "telemetry/v1/cache.pb.h"

namespace telemetry::cache {

// A call of CacheService.Put. The writer thread stores the entry; the entry counts as waiting until then.
class PutCall final : public call::UnaryCall {
 public:
  static constexpr char kMethod[] = "/telemetry.v1.CacheService/Put";

  // The objects must outlive the call.
  PutCall(call::AdmittedCall call, access::Gate& gate, const Timeouts& timeouts, writer::WriterLoop& writer,
          PutAdmission& admission)
      : call::UnaryCall(std::move(call), gate, timeouts), writer_(writer), admission_(admission) {}

  using call::UnaryCall::Timeouts;

 private:
  // Takes room for the request and parses it. Returns the error with which the call ends; no room is taken then.
  absl::Status Admit(uint64_t bytes, v1::PutCacheRequest* parsed);
  void OnRequest() override;
  void OnStored(const storage::CachePutOutcome& outcome);

  writer::WriterLoop& writer_;
  PutAdmission& admission_;
};

}  // namespace telemetry::cache
