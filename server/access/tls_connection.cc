#include "server/access/tls_connection.h"

#include <openssl/err.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "proto/base/status_macros.h"

namespace telemetry::access {
namespace {

bool Load(SSL_CTX* context, const TlsFiles& files) {
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
         SSL_CTX_use_certificate_chain_file(context, files.cert.c_str()) == 1 &&
         SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM) == 1;
}

bool LoadClientAuthority(SSL_CTX* context, const TlsFiles& files) {
  if (files.client_ca.empty()) return true;
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return SSL_CTX_load_verify_locations(context, files.client_ca.c_str(), nullptr) == 1;
}

int Bounded(size_t size) { return static_cast<int>(std::min<size_t>(size, INT_MAX)); }

}  // namespace

absl::StatusOr<SslContext> MakeSslContext(const TlsFiles& files) {
  RETURN_IF_ERROR(CheckTlsFiles(files).status());
  SslContext context(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
  const bool is_loaded = context != nullptr && Load(context.get(), files) && LoadClientAuthority(context.get(), files);
  ERR_clear_error();
  if (!is_loaded) return absl::InvalidArgumentError("OpenSSL rejects the TLS files");
  return context;
}

absl::StatusOr<TlsConnection> TlsConnection::Begin(const TlsFiles& files, int fd) {
  ASSIGN_OR_RETURN(const SslContext context, MakeSslContext(files));
  // The SSL object keeps a reference to the context.
  TlsConnection connection(SSL_new(context.get()));
  ERR_clear_error();
  if (connection.ssl_ == nullptr || SSL_set_fd(connection.ssl_.get(), fd) != 1) {
    return absl::InvalidArgumentError("OpenSSL rejects the TLS files");
  }
  SSL_set_accept_state(connection.ssl_.get());
  SSL_set_mode(connection.ssl_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return connection;
}

IoStep TlsConnection::Read(char* to, size_t size) { return ToIoStep(SSL_read(ssl_.get(), to, Bounded(size))); }

IoStep TlsConnection::Write(const char* from, size_t size) {
  return ToIoStep(SSL_write(ssl_.get(), from, Bounded(size)));
}

void TlsConnection::Shutdown() {
  SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

IoStep TlsConnection::ToIoStep(int result) const {
  if (result > 0) return {.kind = IoStep::kDone, .bytes = static_cast<size_t>(result)};
  const int error = SSL_get_error(ssl_.get(), result);
  ERR_clear_error();
  if (error == SSL_ERROR_WANT_READ) return {.kind = IoStep::kWantsRead};
  if (error == SSL_ERROR_WANT_WRITE) return {.kind = IoStep::kWantsWrite};
  return {.kind = IoStep::kClosed};
}

}  // namespace telemetry::access
