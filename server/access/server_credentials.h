#pragma once

#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace telemetry::access {

// PEM files. All unset: plaintext.
struct TlsFiles {
  std::string cert;       // the collector's certificate, followed by the intermediate certificates
  std::string key;        // private key of the certificate
  std::string client_ca;  // authorities of the client certificates; empty: clients need no certificate
};

// Returns the credentials of a port. gRPC checks the files every second, and connections made after a change use the
// new files. The files must be replaced together (rename a folder or a symbolic link), because a certificate with the
// key of another one fails every handshake. INVALID_ARGUMENT: a file cannot be read or has the wrong content, or the
// key does not match the certificate.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeServerCredentials(const TlsFiles& files);

// Returns the end of the certificate's validity after checking all files as MakeServerCredentials does. Requires
// files.cert.
absl::StatusOr<absl::Time> CheckTlsFiles(const TlsFiles& files);

}  // namespace telemetry::access
