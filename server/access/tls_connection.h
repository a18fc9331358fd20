#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "server/access/server_credentials.h"

namespace telemetry::access {

// The outcome of reading or writing some bytes of a connection that does not block.
struct IoStep {
  enum Kind { kDone, kWantsRead, kWantsWrite, kClosed };
  Kind kind = kClosed;
  size_t bytes = 0;  // of kDone: how many were read or written
};

// The server's end of a TLS connection over a non-blocking socket, for servers other than gRPC's. The handshake takes
// place within the first reads. Not thread-safe; does not own the socket.
class TlsConnection {
 public:
  // Reads the files anew. INVALID_ARGUMENT: as MakeServerCredentials.
  static absl::StatusOr<TlsConnection> Begin(const TlsFiles& files, int fd);

  IoStep Read(char* to, size_t size);
  IoStep Write(const char* from, size_t size);
  // Tells the peer that nothing more is sent.
  void Shutdown();

 private:
  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };
  explicit TlsConnection(SSL* ssl) : ssl_(ssl) {}
  IoStep StepOf(int result) const;

  std::unique_ptr<SSL, Free> ssl_;
};

}  // namespace telemetry::access
