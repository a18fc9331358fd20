#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/access/gate.h"
#include "server/cache/put_admission.h"
#include "server/call/unary_call.h"
#include "server/storage/model_change.h"
#include "server/writer/writer_loop.h"

namespace telemetry::models {

// A call of ModelService.Put or Remove, which the writer thread executes. Its request counts as waiting until then.
class ChangeCall final : public call::UnaryCall {
 public:
  static constexpr char kPut[] = "/telemetry.v1.ModelService/Put";
  static constexpr char kRemove[] = "/telemetry.v1.ModelService/Remove";
  enum class Kind { kPut, kRemove };

  // The objects must outlive the call.
  struct Context {
    Kind kind;
    access::Gate& gate;
    UnaryCall::Timeouts timeouts;
    writer::WriterLoop& writer;
    cache::PutAdmission& admission;
    uint64_t most_model_bytes;
  };

  ChangeCall(call::AdmittedCall call, const Context& context)
      : call::UnaryCall(std::move(call), context.gate, context.timeouts), context_(context) {}

 private:
  // Parses and checks the request.
  absl::StatusOr<storage::ModelChange> Parse();
  void OnRequest() override;
  void OnChanged(const storage::ModelOutcome& outcome);

  const Context context_;
};

}  // namespace telemetry::models
