#pragma once

#include <array>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "server/access/file_stamp.h"
#include "server/access/gate.h"
#include "server/access/server_credentials.h"
#include "server/access/tls_connection.h"

namespace telemetry::http {

// The TLS context of a server, which is created again when its files have changed. Not thread-safe.
class TlsContext {
 public:
  explicit TlsContext(access::TlsFiles files) : files_(std::move(files)) {}

  bool is_used() const { return !files_.cert.empty(); }
  // Returns the context for a new connection. Returns the last good context while the files cannot be used.
  // INVALID_ARGUMENT: they never could.
  absl::StatusOr<access::SslContext> Get();

 private:
  using Stamps = std::array<std::optional<access::FileStamp>, 3>;
  Stamps ReadStamps() const;

  const access::TlsFiles files_;
  access::SslContext context_;
  std::optional<Stamps> stamps_;  // of the files that were read last; nullopt: they must be read again
  access::LogLimit failure_lines_;
};

}  // namespace telemetry::http
