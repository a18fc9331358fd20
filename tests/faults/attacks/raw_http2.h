#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "tests/http2/frames.h"

namespace telemetry::faults {

// A client that writes HTTP/2 frames directly and can therefore misbehave in ways that no gRPC library allows: stop at
// any byte, announce more bytes than it sends, never read. It acknowledges SETTINGS and respects flow control, but
// responds to nothing else, not even PING. Not thread-safe.
class RawConnection {
 public:
  // Connects to 127.0.0.1. Ends the test program if nobody listens. `host` is the last number of the source address
  // 127.0.0.x.
  explicit RawConnection(int port, uint32_t host = 1);
  RawConnection(RawConnection&& other) noexcept;
  RawConnection& operator=(RawConnection&&) = delete;
  ~RawConnection();

  // Stops acknowledging the peer's SETTINGS, so that they do not take effect on this connection.
  void IgnoreSettings() { acknowledges_ = false; }
  // Sends the connection preface with SETTINGS. `window` is the initial flow-control window of a stream for the peer,
  // in bytes.
  void SendPreface(uint32_t window = 65535);
  // Returns the bytes of the preface and the SETTINGS frame.
  static std::string Preface(uint32_t window = 65535);
  // Returns the preface and the headers of `calls` calls of a method, without messages.
  static std::string CallBurst(const std::string& method, uint32_t calls);
  // Returns the headers of `calls` calls of a method, each followed by its cancellation. `before` calls were started on
  // this connection before.
  static std::string ResetCalls(const std::string& method, uint32_t before, uint32_t calls);
  void StartCall(uint32_t stream, const std::string& method, const http2::Headers& more = {});
  // Sends DATA within the peer's flow-control windows, and reads the peer's frames meanwhile. Returns false if the peer
  // ended the stream or the connection, or granted no window for `patience`.
  bool SendData(uint32_t stream, std::string_view bytes, absl::Duration patience = absl::Seconds(5));
  // Grants the peer `bytes` more bytes on a stream.
  bool AllowMore(uint32_t stream, uint32_t bytes);
  // Sends the bytes unchanged. Returns false if the connection is closed, or if the peer has accepted no bytes for ten
  // seconds.
  bool SendRaw(std::string_view bytes);

  // Reads until the peer has ended the stream or the connection. Returns false if it has not within `patience`.
  bool AwaitEnd(uint32_t stream, absl::Duration patience);
  // Reads until the peer has started a response. Otherwise like AwaitEnd.
  bool AwaitAnswer(uint32_t stream, absl::Duration patience);

 private:
  // Waits up to `patience` for bytes, then reads and handles them. Returns false if none arrived.
  bool Receive(absl::Duration patience);
  bool AwaitThat(const bool& happened, absl::Duration patience);
  void HandleFrames();
  void HandleFrame(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload);

  int fd_;
  bool closed_ = false;
  bool acknowledges_ = true;
  bool has_begun_ = false;  // no frame may be sent before the preface
  std::string received_;
  int64_t connection_window_ = 65535;
  int64_t first_window_ = 65535;
  std::map<uint32_t, int64_t> windows_;
  std::map<uint32_t, bool> answered_;
  std::map<uint32_t, bool> ended_;
};

}  // namespace telemetry::faults
