#pragma once

#include <functional>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/dataset/page_call.h"
#include "server/storage/readers/exporter.h"

namespace telemetry::dataset {

// A call of DatasetService.Export. A pool thread borrows a reader for each page and reads the page.
class ExportCall final : public PageCall {
 public:
  static constexpr char kMethod[] = "/telemetry.v1.DatasetService/Export";

  // Called with the end status of the call before its client receives it. DEADLINE_EXCEEDED: a timeout of the context
  // has passed.
  using CallEnd = std::function<void(const access::Caller&, const absl::Status&)>;
  ExportCall(const PageCallContext& context, call::AdmittedCall call, CallEnd on_end);

 private:
  absl::Status TakeRequest(const grpc::ByteBuffer& request) override;
  void BeginPage() override { Deliver(ReadPage()); }
  void OnEnd(const absl::Status& status) override { on_end_(caller(), status); }

  absl::StatusOr<Page> ReadPage();

  const CallEnd on_end_;
  // set when the request has arrived; used only by the thread that reads a page
  std::optional<storage::readers::Exporter> exporter_;
};

}  // namespace telemetry::dataset
