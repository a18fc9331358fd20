#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "server/access/server_credentials.h"

namespace telemetry::access {

// The result of a read or write on a non-blocking connection.
struct IoStep {
  enum Kind { kDone, kWantsRead, kWantsWrite, kClosed };
  Kind kind = kClosed;
  size_t bytes = 0;  // for kDone: the number of bytes read or written
};

// A server's certificate, private key and authorities, as OpenSSL holds them.
using SslContext = std::shared_ptr<SSL_CTX>;

// Reads the files. INVALID_ARGUMENT: see MakeServerCredentials.
absl::StatusOr<SslContext> MakeSslContext(const TlsFiles& files);

// The server side of a TLS connection over a non-blocking socket, for servers other than gRPC. The first reads perform
// the handshake. Does not own the socket. Not thread-safe.
class TlsConnection {
 public:
  // Reads the files and creates the connection. INVALID_ARGUMENT: see MakeServerCredentials.
  static absl::StatusOr<TlsConnection> Begin(const TlsFiles& files, int fd);

  IoStep Read(char* to, size_t size);
  IoStep Write(const char* from, size_t size);
  // Sends close_notify to the peer.
  void Shutdown();

 private:
  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };
  explicit TlsConnection(SSL* ssl) : ssl_(ssl) {}
  IoStep ToIoStep(int result) const;

  std::unique_ptr<SSL, Free> ssl_;
};

}  // namespace telemetry::access
