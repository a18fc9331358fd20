#pragma once

#include <atomic>
#include <cstdint>

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
  // What is refused in Acks that clients have not read.
  std::atomic<uint64_t>& unread_ack_bytes;
};

}  // namespace telemetry::collector
