#pragma once

#include "server/call/raw_service.h"
#include "server/ingest/ingest_context.h"
#include "server/ingest/thread_pool.h"

namespace telemetry::collector {

// IngestService as ingest.proto documents it. Its requests come as they are on the wire: what is in them is admitted
// before it is parsed.
class IngestService final : public RawService {
 public:
  // `calls` outlives the service.
  IngestService(RunningCalls& calls, const IngestContext& context);

 private:
  const IngestContext context_;
  ThreadPool parsers_;  // last: its threads use the context
};

}  // namespace telemetry::collector
