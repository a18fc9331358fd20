#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/status.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace telemetry::access {

// The credentials of a client and the authorities by which it verifies the collector. If nothing is set, the client
// connects in plaintext without a token.
struct Credentials {
  // PEM file of the certificate authorities that verify the collector. Setting it enables TLS.
  std::string tls_ca;
  // PEM files of the client's certificate and its key, for a collector that requires a client certificate. Both or
  // none.
  std::string tls_cert;
  std::string tls_key;
  // File that contains one line, the token.
  std::string token_file;
  // The token itself. Used if token_file is empty.
  std::string token;
};

// The channel credentials and the token of one connection. Prepare() reads the files, so that a new connection uses
// renewed files.
class Connection {
 public:
  // Reads the credentials for a connection to `address`. Errors: INVALID_ARGUMENT for an address that CheckAddress()
  // refuses; UNAUTHENTICATED if a file cannot be read or has other contents, for a certificate without its key or
  // without tls_ca, and for a token that would cross the network in plaintext. The message names the flag or file,
  // never the token.
  static absl::StatusOr<Connection> Prepare(const Credentials& credentials, const std::string& address);
  // Returns INVALID_ARGUMENT with the message of Prepare() if Prepare() fails. For programs that exit before their work
  // if a flag is wrong.
  static absl::Status Check(const Credentials& credentials, const std::string& address);

  const std::shared_ptr<grpc::ChannelCredentials>& channel_credentials() const { return channel_credentials_; }
  // Adds the token, if there is one, to a call.
  void Authorize(grpc::ClientContext* context) const;
  // Returns the status of a call on this connection. If the connection failed, the message ends with a remedy.
  absl::Status CallStatus(const grpc::Status& status) const;

 private:
  std::shared_ptr<grpc::ChannelCredentials> channel_credentials_;
  bool is_tls_ = false;
  std::string authorization_;  // value of the authorization header; empty: no token
};

// Returns the token in the environment variable TELEMETRY_TOKEN, or an empty string. The first call removes the
// variable, so that child processes do not inherit the token. Must be called before other threads start.
const std::string& TakeTokenFromEnvironment();

}  // namespace telemetry::access
