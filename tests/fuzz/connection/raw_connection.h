#pragma once

#include <string>

#include "absl/time/time.h"

namespace telemetry::fuzz {

// A TCP connection to a port of this machine, for whoever does not want a client's manners.
class RawConnection {
 public:
  // Ends the program where there is no port.
  explicit RawConnection(int port);
  // Closes it in order.
  ~RawConnection();
  RawConnection(RawConnection&& other) noexcept;
  RawConnection& operator=(RawConnection&&) = delete;

  // False: the other end has closed, or does not take it.
  bool Send(const std::string& bytes);
  // There is no more to be sent.
  void HalfClose();
  // Waits for bytes, so long, and takes some. False: there were none, or it was closed.
  bool Receive(absl::Duration patience);
  // Closes with a TCP reset.
  void Reset();

 private:
  int fd_;
};

}  // namespace telemetry::fuzz
