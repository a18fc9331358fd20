#include "tests/server/http/tls_client.h"

#include <openssl/ssl.h>

#include "absl/strings/str_cat.h"

namespace telemetry::http {
namespace {

SSL_CTX* MakeContext(const TlsClientFiles& files) {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_load_verify_locations(context, files.ca.c_str(), nullptr);
  if (!files.cert.empty()) {
    SSL_CTX_use_certificate_file(context, files.cert.c_str(), SSL_FILETYPE_PEM);
    SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM);
  }
  return context;
}

}  // namespace

std::string ExchangeOverTls(int port, const TlsClientFiles& files, const std::string& request, size_t most) {
  SSL_CTX* context = MakeContext(files);
  BIO* bio = BIO_new_ssl_connect(context);
  BIO_set_conn_hostname(bio, absl::StrCat("127.0.0.1:", port).c_str());
  std::string answer;
  if (BIO_write(bio, request.data(), static_cast<int>(request.size())) > 0) {
    std::string bytes(4096, '\0');
    for (int size = 1; size > 0 && answer.size() < most;) {
      size = BIO_read(bio, bytes.data(), static_cast<int>(bytes.size()));
      if (size > 0) answer.append(bytes.data(), static_cast<size_t>(size));
    }
  }
  BIO_free_all(bio);
  SSL_CTX_free(context);
  return answer;
}

}  // namespace telemetry::http
