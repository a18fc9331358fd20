#pragma once

#include "server/access/gate.h"
#include "server/collector/admission.h"
#include "server/collector/limits.h"
#include "server/collector/stream_registry.h"
#include "server/collector/writer_loop.h"

namespace telemetry::collector {

// What all ingest calls share. Everything in it is thread-safe and outlives the calls.
struct IngestContext {
  const Limits& limits;
  Admission& admission;
  WriterLoop& writer;
  StreamRegistry& streams;
  access::Gate& gate;
};

}  // namespace telemetry::collector
