#include "server/ingest/ingest_service.h"

#include <memory>
#include <utility>

#include "server/ingest/ingest_call.h"
#include "server/ingest/ingest_stream.h"

namespace telemetry::ingest {
namespace {

// In addition to the thread that polls the sockets.
constexpr int kParsers = 1;

}  // namespace

IngestService::IngestService(call::RunningCalls& calls, const IngestContext& context)
    : call::RawService(calls),
      context_(context),
      parsers_(kParsers, context.limits, [&writer = context.writer] { return writer.IsUrgent(); }) {
  AddMethod(IngestStream::kMethod, call::CallKind::kOther, [this](call::AdmittedCall call) {
    return std::make_shared<IngestStream>(context_, parsers_, std::move(call));
  });
  AddMethod(IngestCall::kMethod, call::CallKind::kOther, [this](call::AdmittedCall call) {
    return std::make_shared<IngestCall>(context_, parsers_, std::move(call));
  });
}

}  // namespace telemetry::ingest
