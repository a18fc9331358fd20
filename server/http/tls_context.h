#pragma once

#include <openssl/ssl.h>

#include <memory>

#include "absl/status/statusor.h"
#include "proto/base/steady.h"
#include "server/access/server_credentials.h"
#include "server/access/tls_connection.h"

namespace telemetry::http {

// The TLS context of a server, which is created again when its files have changed. Not thread-safe.
class TlsContext {
 public:
  explicit TlsContext(access::TlsFiles files) : files_(std::move(files)) {}

  bool is_used() const { return !files_.cert.empty(); }
  // Returns the context for a new connection; reads the files at most once a second. Returns the last good context
  // while the files cannot be used. INVALID_ARGUMENT: they never could.
  absl::StatusOr<access::SslContext> Get();

 private:
  const access::TlsFiles files_;
  access::SslContext context_;
  SteadyTime next_read_ = kLongAgo;
};

}  // namespace telemetry::http
