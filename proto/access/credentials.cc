#include "proto/access/credentials.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/access/address.h"
#include "proto/access/bearer_token.h"
#include "proto/base/status_macros.h"

namespace telemetry::access {
namespace {

constexpr char kTokenVariable[] = "TELEMETRY_TOKEN";

absl::StatusOr<std::string> ReadFile(const char* flag, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    return absl::UnauthenticatedError(absl::StrCat(flag, " ", path, ": cannot be read or is empty"));
  }
  return text.str();
}

absl::StatusOr<std::string> ReadPem(const char* flag, const std::string& path) {
  absl::StatusOr<std::string> pem = ReadFile(flag, path);
  if (pem.ok() && !absl::StrContains(*pem, "-----BEGIN ")) {
    return absl::UnauthenticatedError(absl::StrCat(flag, " ", path, ": not a PEM file"));
  }
  return pem;
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> ChannelCredentials(const Credentials& credentials) {
  if (credentials.tls_cert.empty() != credentials.tls_key.empty()) {
    return absl::UnauthenticatedError("--tls-cert and --tls-key must be given together");
  }
  if (credentials.tls_ca.empty()) {
    if (credentials.tls_cert.empty()) return grpc::InsecureChannelCredentials();
    return absl::UnauthenticatedError("--tls-cert requires --tls-ca, the authorities that verify the collector");
  }
  grpc::SslCredentialsOptions options;
  absl::StatusOr<std::string> pem = ReadPem("--tls-ca", credentials.tls_ca);
  if (!pem.ok()) return pem.status();
  options.pem_root_certs = *std::move(pem);
  if (!credentials.tls_cert.empty()) {
    if (pem = ReadPem("--tls-cert", credentials.tls_cert); !pem.ok()) return pem.status();
    options.pem_cert_chain = *std::move(pem);
    if (pem = ReadPem("--tls-key", credentials.tls_key); !pem.ok()) return pem.status();
    options.pem_private_key = *std::move(pem);
  }
  return grpc::SslCredentials(options);
}

absl::StatusOr<std::string> ReadToken(const Credentials& credentials) {
  std::string token = credentials.token;
  std::string source = kTokenVariable;
  if (!credentials.token_file.empty()) {
    ASSIGN_OR_RETURN(std::string text, ReadFile("--token-file", credentials.token_file));
    token = std::move(text);
    source = absl::StrCat("--token-file ", credentials.token_file);
  } else if (token.empty()) {
    return token;
  }
  absl::StripAsciiWhitespace(&token);
  if (IsToken(token)) return token;
  return absl::UnauthenticatedError(
      absl::StrCat(source, ": must contain exactly one token, as telemetry-collector token add prints it"));
}

}  // namespace

absl::StatusOr<Connection> Connection::Prepare(const Credentials& credentials, const std::string& address) {
  RETURN_IF_ERROR(CheckAddress(address));
  Connection connection;
  ASSIGN_OR_RETURN(std::shared_ptr<grpc::ChannelCredentials> channel, ChannelCredentials(credentials));
  connection.channel_credentials_ = std::move(channel);
  connection.is_tls_ = !credentials.tls_ca.empty();
  ASSIGN_OR_RETURN(std::string token, ReadToken(credentials));
  if (token.empty()) return connection;
  if (credentials.tls_ca.empty() && !StaysOnThisMachine(address)) {
    return absl::UnauthenticatedError(absl::StrCat(
        "the token would go to ", address, " in plaintext, readable by everyone on the network: give --tls-ca"));
  }
  connection.authorization_ = absl::StrCat(absl::string_view(kBearer.data(), kBearer.size()), token);
  return connection;
}

absl::Status Connection::Check(const Credentials& credentials, const std::string& address) {
  const absl::Status status = Prepare(credentials, address).status();
  return status.ok() ? status : absl::InvalidArgumentError(status.message());
}

absl::Status Connection::CallStatus(const grpc::Status& status) const {
  if (status.ok()) return absl::OkStatus();
  const std::string& message = status.error_message();
  std::string_view advice;
  if (!is_tls_ && absl::StrContains(message, "failed to connect") && absl::StrContains(message, "Socket closed")) {
    advice = "; it closes a plaintext connection: give --tls-ca if it serves TLS";
  } else if (absl::StrContains(message, "wrong version number")) {
    advice = "; it does not speak TLS: leave out --tls-ca, or correct the port";
  } else if (absl::StrContains(message, "certificate verify failed")) {
    advice = "; its certificate is expired, for another host, or not of the authorities in --tls-ca";
  } else if (absl::StrContains(message, "Failed parsing HTTP/2")) {
    advice = "; it does not speak gRPC: is this the collector's port?";
  }
  // gRPC and Abseil use the same numbers for status codes.
  return {static_cast<absl::StatusCode>(status.error_code()), absl::StrCat(message, std::string(advice))};
}

void Connection::Authorize(grpc::ClientContext* context) const {
  if (!authorization_.empty()) context->AddMetadata(kAuthorizationKey, authorization_);
}

const std::string& TakeTokenFromEnvironment() {
  static const std::string token = [] {
    const char* value = std::getenv(kTokenVariable);
    std::string text = value == nullptr ? "" : value;
    ::unsetenv(kTokenVariable);
    return text;
  }();
  return token;
}

}  // namespace telemetry::access
