#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/net/socket.h"

namespace telemetry::net {

struct ListenerOptions {
  // A connection whose peer does not acknowledge sent bytes for so long is closed by the kernel (TCP_USER_TIMEOUT).
  absl::Duration unacknowledged_timeout = absl::Seconds(15);
};

// A listening TCP socket, non-blocking, that can be opened again at the same address. No other socket shares its port.
class Listener {
 public:
  // UNAVAILABLE: the system refuses; the message says why.
  static absl::StatusOr<Listener> Open(const sockaddr_storage& address, const ListenerOptions& options);

  int fd() const { return socket_.fd(); }
  int port() const;
  // Returns whether the socket is still the one that was opened, and listens.
  bool IsListening() const;
  // Opens another socket at the same address and port, after closing the one before. Errors as Open.
  absl::Status Reopen();

 private:
  Listener(const sockaddr_storage& address, const ListenerOptions& options) : address_(address), options_(options) {}
  absl::Status Listen();

  sockaddr_storage address_;  // with the port that was taken
  ListenerOptions options_;
  Socket socket_;
  FileId file_;
};

// Listens at every address of HOST:PORT, as in "127.0.0.1:4747", "localhost:4747" or "[::1]:0"; port 0 takes a free
// one, the same for all. The hosts 0.0.0.0 and [::] stand for every address of the machine, IPv4 and IPv6. Addresses
// that the machine does not have are left out if others remain. UNAVAILABLE: the port is taken, or the host has no
// address here.
absl::StatusOr<std::vector<Listener>> ListenAt(const std::string& address, const ListenerOptions& options);

}  // namespace telemetry::net
