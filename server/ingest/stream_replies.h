#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <optional>

#include "proto/clock/steady.h"
#include "server/ingest/byte_claim.h"
#include "server/ingest/ingest_context.h"
#include "server/storage/store.h"
#include "telemetry/v1/ingest.pb.h"

namespace telemetry::collector {

// Adds an outcome to an Ack that may hold earlier ones.
void AddOutcome(storage::BatchOutcome outcome, v1::Ack& ack);

// What a stream's client is still to be told: Opened, then Acks, of which those that come while one is being written
// become one. Not thread-safe.
class StreamReplies {
 public:
  // `context` outlives the object.
  explicit StreamReplies(const IngestContext& context)
      : limits_(context.limits), ack_claim_(context.unread_ack_bytes), written_claim_(context.unread_ack_bytes) {}

  void Add(v1::Opened opened) { opened_ = std::move(opened); }
  // False: there is no room for what clients do not read, and this one is not reading.
  bool Add(storage::BatchOutcome outcome);

  // The next one, to be kept until OnWritten; nullptr while one is being written, or when there is none.
  const grpc::ByteBuffer* Next();
  void OnWritten();
  // Nobody will read them.
  void Drop();

  bool is_writing() const { return writing_since_.has_value(); }
  // Whether the client has let one wait for longer than it may.
  bool IsUnread(SteadyTime now) const;

 private:
  const Limits& limits_;
  std::optional<v1::Opened> opened_;
  std::optional<v1::Ack> ack_;
  grpc::ByteBuffer written_;
  std::optional<SteadyTime> writing_since_;
  // What the rejects in them take.
  ByteClaim ack_claim_;
  ByteClaim written_claim_;
};

}  // namespace telemetry::collector
