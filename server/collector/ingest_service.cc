#include "server/collector/ingest_service.h"

#include <memory>
#include <utility>

#include "server/collector/ingest_call.h"
#include "server/collector/ingest_stream.h"

namespace telemetry::collector {

IngestService::IngestService(RunningCalls& calls, const IngestContext& context) : RawService(calls), context_(context) {
  AddMethod(IngestStream::kMethod, CallKind::kOther,
            [this](AdmittedCall call) { return std::make_shared<IngestStream>(context_, std::move(call)); });
  AddMethod(IngestCall::kMethod, CallKind::kOther,
            [this](AdmittedCall call) { return std::make_shared<IngestCall>(context_, std::move(call)); });
}

}  // namespace telemetry::collector
