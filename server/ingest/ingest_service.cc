#include "server/ingest/ingest_service.h"

#include <memory>
#include <utility>

#include "server/ingest/ingest_call.h"
#include "server/ingest/ingest_stream.h"

namespace telemetry::collector {
namespace {

// In addition to the queue's thread, which polls the sockets.
constexpr int kParsers = 1;

}  // namespace

IngestService::IngestService(RunningCalls& calls, const IngestContext& context)
    : RawService(calls), context_(context), parsers_(kParsers) {
  AddMethod(IngestStream::kMethod, CallKind::kOther,
            [this](AdmittedCall call) { return std::make_shared<IngestStream>(context_, parsers_, std::move(call)); });
  AddMethod(IngestCall::kMethod, CallKind::kOther,
            [this](AdmittedCall call) { return std::make_shared<IngestCall>(context_, parsers_, std::move(call)); });
}

}  // namespace telemetry::collector
