#include "server/dataset/export_call.h"

#include <chrono>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/base/steady.h"
#include "server/call/message_buffer.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::dataset {
namespace {

constexpr uint64_t kPageBytes = uint64_t{256} << 10;
// A page ends after this much reading time, so that other exports get a turn.
constexpr std::chrono::milliseconds kTurn{50};

}  // namespace

ExportCall::ExportCall(const PageCallContext& context, call::AdmittedCall call, CallEnd on_end)
    : PageCall(
          context, std::move(call),
          {.draining = "the collector is shutting down: repeat the export",
           .overdue = "the export took longer than the collector's --export-timeout: select less with a filter, or "
                      "read faster"}),
      on_end_(std::move(on_end)) {}

absl::Status ExportCall::TakeRequest(const grpc::ByteBuffer& request) {
  v1::ExportRequest parsed;
  RETURN_IF_ERROR(call::FromBuffer(request, &parsed));
  exporter_.emplace(std::move(parsed));
  return absl::OkStatus();
}

absl::StatusOr<ExportCall::Page> ExportCall::ReadPage() {
  ASSIGN_OR_RETURN(const ReaderPool::Borrowed reader, readers().Borrow());
  const SteadyTime turn_ends = SteadyNow() + kTurn;
  Page page;
  while (page.bytes < kPageBytes && SteadyNow() < turn_ends && !has_ended()) {
    ASSIGN_OR_RETURN(const storage::ExportStep step, reader->Next(*exporter_));
    page.is_last = step.done;
    if (step.done) break;
    if (!step.item.has_value() && step.serialised.empty()) continue;
    page.Add(step.item.has_value() ? call::ToBuffer(*step.item) : call::ToBuffer(step.serialised));
  }
  return page;
}

}  // namespace telemetry::dataset
