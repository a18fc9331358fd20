#pragma once

#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace telemetry::access {

// PEM files; nothing set: plaintext.
struct TlsFiles {
  std::string cert;       // the collector's certificate, and those between it and its authority
  std::string key;        // its private key
  std::string client_ca;  // authorities of the clients' certificates; empty: none is asked for
};

// What a port is served with. The files are looked at each second: connections made after a change use the new ones.
// They are to be replaced together (a folder or symbolic link that is renamed), since a certificate with another's key
// serves nobody. INVALID_ARGUMENT: a file cannot be read, is not what it should be, or certificate and key do not
// belong together.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeServerCredentials(const TlsFiles& files);

// When the certificate ends, where all files are as MakeServerCredentials wants them: `files` must name a certificate.
absl::StatusOr<absl::Time> CheckTlsFiles(const TlsFiles& files);

}  // namespace telemetry::access
