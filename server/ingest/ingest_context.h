#pragma once

#include <atomic>
#include <cstdint>

#include "server/access/gate.h"
#include "server/call/limits.h"
#include "server/ingest/admission.h"
#include "server/ingest/producer_rates.h"
#include "server/ingest/stream_registry.h"
#include "server/writer/writer_loop.h"

namespace telemetry::ingest {

// The objects that all ingest calls share. They are thread-safe and must outlive the calls.
struct IngestContext {
  const call::Limits& limits;
  Admission& admission;
  writer::WriterLoop& writer;
  StreamRegistry& streams;
  access::Gate& gate;
  ProducerRates& rates;
  // Bytes of refusals in Acks that clients have not read.
  std::atomic<uint64_t>& unread_ack_bytes;
  // Records refused for their size so far.
  std::atomic<uint64_t>& too_large_records;

  // Returns the limits of the pieces in which batches should be committed at present.
  call::PieceLimits piece_limits() const { return writer.IsUrgent() ? call::kShortPiece : call::PieceLimits(); }
};

}  // namespace telemetry::ingest
