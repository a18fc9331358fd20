#pragma once

#include "server/call/raw_service.h"
#include "server/ingest/ingest_context.h"
#include "server/ingest/parse_queue.h"

namespace telemetry::ingest {

// The implementation of IngestService in ingest.proto. Requests arrive as raw bytes, because their content is admitted
// before it is parsed.
class IngestService final : public call::RawService {
 public:
  // `calls` must outlive the service.
  IngestService(call::RunningCalls& calls, const IngestContext& context);

 private:
  const IngestContext context_;
  ParseQueue parsers_;  // last member: its threads use the context
};

}  // namespace telemetry::ingest
