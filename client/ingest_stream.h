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

// How a stream ended.
struct StreamEnd {
  absl::Status status = absl::OkStatus();
  std::optional<absl::Duration> retry_delay = std::nullopt;  // the collector asks for this pause
  std::string request_id = {};  // under which the collector's log tells of the stream; empty: it told none
};

// One gRPC stream to a collector, on a connection of its own. Nothing blocks but Finish; when something has happened
// `on_event` is called (from gRPC's threads, also before Start returns) and the owner looks at the state.
// All methods are for the one thread that owns the stream.
class IngestStream {
 public:
  // Begins to connect and sends `open`.
  static std::unique_ptr<IngestStream> Start(const std::string& collector, const access::Connection& connection,
                                             const v1::Open& open, std::function<void()> on_event);
  // Finishes when that was not done.
  virtual ~IngestStream() = default;

  // The last write has been handed on; another may follow.
  virtual bool can_write() const = 0;
  // Only while can_write().
  virtual void Write(EncodedBatch batch) = 0;
  // What has come since the last call, in order.
  virtual std::vector<v1::StreamResponse> TakeResponses() = 0;
  // Nothing more will come.
  virtual bool ended() const = 0;
  // Ends the stream, from this side when the collector has not, and waits until gRPC has let go of it.
  virtual StreamEnd Finish() = 0;
};

}  // namespace telemetry::client
