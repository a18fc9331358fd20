#pragma once

#include <functional>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/dataset/page_call.h"
#include "server/storage/readers/exporter.h"

namespace telemetry::collector {

// One export on its way to a client. A thread of the pool reads a page over a reader that it borrows for that.
class ExportCall final : public PageCall {
 public:
  static constexpr char kMethod[] = "/telemetry.v1.DatasetService/Export";

  // Told how the call ends, before its client is: DEADLINE_EXCEEDED for the times of the context.
  using CallEnd = std::function<void(const access::Caller&, const absl::Status&)>;
  ExportCall(const PageCallContext& context, AdmittedCall call, CallEnd on_end);

 private:
  absl::Status TakeRequest(const grpc::ByteBuffer& request) override;
  void BeginPage() override { Deliver(ReadPage()); }
  void OnEnd(const absl::Status& status) override { on_end_(caller(), status); }

  absl::StatusOr<Page> ReadPage();

  const CallEnd on_end_;
  std::optional<storage::Exporter> exporter_;  // once the request is there; of the one read under way
};

}  // namespace telemetry::collector
