#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/status.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace telemetry::access {

// What a client shows to a collector, and what it expects from it. Nothing set: plaintext, without a token.
struct Credentials {
  // PEM file of the certificate authorities that may vouch for the collector; makes the connection TLS.
  std::string tls_ca;
  // PEM files with which the client proves itself, where the collector asks for it; both or none.
  std::string tls_cert;
  std::string tls_key;
  // File whose only line is a token.
  std::string token_file;
  // The token itself; counts where there is no file.
  std::string token;
};

// What one connection uses. The files are read when it is made: a new connection sees what has been renewed.
class Connection {
 public:
  // INVALID_ARGUMENT: the address, as CheckAddress has it. UNAUTHENTICATED: a file cannot be read or holds something
  // else; a certificate without its key or without tls_ca; a token that would go over the network in plaintext. The
  // message names the flag or file, never the token.
  static absl::StatusOr<Connection> Prepare(const Credentials& credentials, const std::string& address);
  // INVALID_ARGUMENT: Prepare fails, with its message. For programs, which end before the work where a flag is wrong.
  static absl::Status Check(const Credentials& credentials, const std::string& address);

  const std::shared_ptr<grpc::ChannelCredentials>& channel_credentials() const { return channel_credentials_; }
  // Adds the token, where there is one, to a call.
  void Authorize(grpc::ClientContext* context) const;
  // Returns the end of a call on this connection. The message of one that could not connect ends with what to do.
  absl::Status StatusOf(const grpc::Status& status) const;

 private:
  std::shared_ptr<grpc::ChannelCredentials> channel_credentials_;
  bool is_tls_ = false;
  std::string authorization_;  // empty: none
};

// The token in the environment variable TELEMETRY_TOKEN; empty: there is none. The first call takes the variable away,
// so that no program that is started later inherits the token. To be called before there are other threads.
const std::string& TakeTokenFromEnvironment();

}  // namespace telemetry::access
