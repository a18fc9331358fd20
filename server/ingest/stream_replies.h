#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <optional>

#include "proto/base/steady.h"
#include "server/ingest/byte_claim.h"
#include "server/ingest/ingest_context.h"
#include "server/storage/store.h"
#include "telemetry/v1/ingest.pb.h"

namespace telemetry::ingest {

// Adds an outcome to an Ack, which may hold earlier ones.
void AddOutcome(storage::BatchOutcome outcome, v1::Ack& ack);

// The messages that a stream has yet to send: Opened, then Acks. Acks that are added while a write is pending are
// merged into one. Not thread-safe.
class StreamReplies {
 public:
  // `context` must outlive the object.
  explicit StreamReplies(const IngestContext& context)
      : limits_(context.limits), ack_claim_(context.unread_ack_bytes), written_claim_(context.unread_ack_bytes) {}

  void Add(v1::Opened opened) { opened_ = std::move(opened); }
  // Adds the outcome to the next Ack. Returns false if unread Acks exceed their limit and this client does not read.
  bool Add(storage::BatchOutcome outcome);

  // Returns the next message, which stays valid until OnWritten; nullptr while a write is pending or if there is no
  // message.
  const grpc::ByteBuffer* Next();
  void OnWritten();
  // Discards the messages that have not been written.
  void Drop();

  bool is_writing() const { return writing_since_.has_value(); }
  // Returns true if the client has not read a message within unread_timeout.
  bool IsUnread(SteadyTime now) const;

 private:
  const call::Limits& limits_;
  std::optional<v1::Opened> opened_;
  std::optional<v1::Ack> ack_;
  grpc::ByteBuffer written_;
  std::optional<SteadyTime> writing_since_;
  // The bytes of the refusals in ack_ and in written_.
  ByteClaim ack_claim_;
  ByteClaim written_claim_;
};

}  // namespace telemetry::ingest
