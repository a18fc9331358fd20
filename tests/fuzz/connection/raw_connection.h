#pragma once

#include <string>

#include "absl/time/time.h"

namespace telemetry::fuzz {

// A TCP connection to a port of this machine, without the protocol rules of a gRPC client.
class RawConnection {
 public:
  // Connects to the port. Ends the program if nobody listens.
  explicit RawConnection(int port);
  // Closes the connection in the regular way.
  ~RawConnection();
  RawConnection(RawConnection&& other) noexcept;
  RawConnection& operator=(RawConnection&&) = delete;

  // Sends the bytes. Returns false if the peer has closed the connection or does not accept them.
  bool Send(const std::string& bytes);
  // Closes the sending direction.
  void HalfClose();
  // Waits up to `patience` for bytes, then reads and discards up to 64 KiB. Returns false if none arrived or the
  // connection is closed.
  bool Receive(absl::Duration patience);
  // Closes with a TCP reset.
  void Reset();

 private:
  int fd_;
};

}  // namespace telemetry::fuzz
