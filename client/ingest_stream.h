#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/batch_encoder.h"
#include "proto/access/credentials.h"
#include "telemetry/v1/ingest.pb.h"

namespace telemetry::client {

// The end of a stream.
struct StreamEnd {
  absl::Status status = absl::OkStatus();
  std::optional<absl::Duration> retry_delay = std::nullopt;  // pause that the collector asks for; unset: none
  std::string request_id = {};  // the stream's id in the collector's log; empty: the collector sent none
};

// A gRPC stream to a collector, on a connection of its own. Only Finish() blocks. After each event the stream calls
// `on_event`, and the owner then checks the stream's state. `on_event` runs on gRPC's threads and may be called before
// Start() returns. All methods must be called from the one thread that owns the stream.
class IngestStream {
 public:
  // Starts connecting and sends `open` as the first message.
  static std::unique_ptr<IngestStream> Start(const std::string& collector, const access::Connection& connection,
                                             const v1::Open& open, std::function<void()> on_event);
  // Calls Finish() if the owner has not.
  virtual ~IngestStream() = default;

  // Returns true if no write is pending, so that Write() may be called.
  virtual bool can_write() const = 0;
  // Calls ReadOn(), then starts to send the batch. Requires can_write().
  virtual void Write(EncodedBatch batch) = 0;
  // Waits for the next response, if the stream does not yet. After a response the stream waits again only when this or
  // Write() is called, so that the packet that tells the collector of it arrives with a batch. Until then the stream
  // does not notice its end.
  virtual void ReadOn() = 0;
  // Returns the responses that arrived since the last call, in order.
  virtual std::vector<v1::StreamResponse> TakeResponses() = 0;
  // Returns true if no further response will arrive.
  virtual bool ended() const = 0;
  // Blocks until the stream has ended, and cancels it if the collector has not ended it. Afterwards gRPC holds no
  // reference to it.
  virtual StreamEnd Finish() = 0;
};

}  // namespace telemetry::client
