#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "tests/http2/frames.h"

namespace telemetry::faults {

// A client that writes HTTP/2 frames by hand, so that it can do what no gRPC library does: stop anywhere, promise more
// than it sends, never read. It answers SETTINGS and keeps to flow control, and answers nothing else: no PING. Not
// thread-safe.
class RawConnection {
 public:
  // Connects to 127.0.0.1; ends the test program when nobody listens. `host`: the last number of the address 127.0.0.x
  // that it comes from.
  explicit RawConnection(int port, uint32_t host = 1);
  RawConnection(RawConnection&& other) noexcept;
  RawConnection& operator=(RawConnection&&) = delete;
  ~RawConnection();

  // Never acknowledges the peer's SETTINGS, so that they do not hold for this connection.
  void IgnoreSettings() { acknowledges_ = false; }
  // The connection preface with SETTINGS. `window`: how much the peer may send on a stream before it is told more.
  void SendPreface(uint32_t window = 65535);
  // Returns the bytes of the preface and the SETTINGS frame.
  static std::string Preface(uint32_t window = 65535);
  void StartCall(uint32_t stream, const std::string& method, const http2::Headers& more = {});
  // Sends DATA as the peer's windows allow, and reads what it says meanwhile. False: the peer ended the stream or the
  // connection, or gave no window for `patience`.
  bool SendData(uint32_t stream, std::string_view bytes, absl::Duration patience = absl::Seconds(5));
  // Allows the peer to send so many bytes more on a stream.
  bool AllowMore(uint32_t stream, uint32_t bytes);
  // Bytes as they are. False: the connection is gone, or the peer has taken none for ten seconds.
  bool SendRaw(std::string_view bytes);

  // Reads what has come, and on until the peer has ended the stream or the connection. False: it did not within
  // `patience`.
  bool AwaitEnd(uint32_t stream, absl::Duration patience);
  // The same until it has begun to answer.
  bool AwaitAnswer(uint32_t stream, absl::Duration patience);

 private:
  // Takes in what has come, after waiting for it at most so long. False: nothing came.
  bool Receive(absl::Duration patience);
  bool AwaitThat(const bool& happened, absl::Duration patience);
  void HandleFrames();
  void HandleFrame(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload);

  int fd_;
  bool closed_ = false;
  bool acknowledges_ = true;
  bool has_begun_ = false;  // nothing may come before the preface
  std::string received_;
  int64_t connection_window_ = 65535;
  int64_t first_window_ = 65535;
  std::map<uint32_t, int64_t> windows_;
  std::map<uint32_t, bool> answered_;
  std::map<uint32_t, bool> ended_;
};

}  // namespace telemetry::faults
