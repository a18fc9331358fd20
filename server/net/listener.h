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

// The socket options of a listener, which accepted connections inherit.
struct ListenerOptions {
  // The kernel closes a connection whose peer does not acknowledge sent bytes for this long (TCP_USER_TIMEOUT).
  absl::Duration unacknowledged_timeout = absl::Seconds(15);
};

// A listening, non-blocking TCP socket that can be reopened at the same address. It does not share its port with other
// sockets.
class Listener {
 public:
  // UNAVAILABLE: the system call failed; the message contains the reason.
  static absl::StatusOr<Listener> Open(const sockaddr_storage& address, const ListenerOptions& options);

  int fd() const { return socket_.fd(); }
  int port() const;
  // Returns true if the descriptor still refers to the socket that was opened, and the socket listens.
  bool IsListening() const;
  // Closes the socket and opens another one at the same address and port. Errors: those of Open.
  absl::Status Reopen();

 private:
  Listener(const sockaddr_storage& address, const ListenerOptions& options) : address_(address), options_(options) {}
  absl::Status Listen();

  sockaddr_storage address_;  // with the port that was assigned
  ListenerOptions options_;
  Socket socket_;
  FileId file_;
};

// Listens at every address of HOST:PORT, such as "127.0.0.1:4747", "localhost:4747" or "[::1]:0"; port 0 selects a free
// port, the same for all addresses. The hosts 0.0.0.0 and [::] stand for every IPv4 and IPv6 address of the machine.
// Addresses that the machine does not have are skipped if others remain. UNAVAILABLE: the port is in use, or the
// machine has no address of the host.
absl::StatusOr<std::vector<Listener>> ListenAt(const std::string& address, const ListenerOptions& options);

}  // namespace telemetry::net
