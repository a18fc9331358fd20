#include "server/access/server_credentials.h"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <ctime>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace telemetry::access {
namespace {

constexpr unsigned kLookEverySeconds = 1;

struct Free {
  void operator()(BIO* file) const { BIO_free(file); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using BioPtr = std::unique_ptr<BIO, Free>;
using CertificatePtr = std::unique_ptr<X509, Free>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Free>;

absl::StatusOr<CertificatePtr> ReadCertificate(const char* flag, const std::string& path) {
  const BioPtr file(BIO_new_file(path.c_str(), "r"));
  CertificatePtr certificate(file == nullptr ? nullptr : PEM_read_bio_X509(file.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  if (certificate != nullptr) return certificate;
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " ", path, file == nullptr ? ": cannot be read" : ": contains no certificate in PEM form"));
}

absl::StatusOr<KeyPtr> ReadKey(const std::string& path) {
  const BioPtr file(BIO_new_file(path.c_str(), "r"));
  // Without a password callback OpenSSL would ask on the terminal.
  const auto no_password = [](char*, int, int, void*) { return 0; };
  KeyPtr key(file == nullptr ? nullptr : PEM_read_bio_PrivateKey(file.get(), nullptr, no_password, nullptr));
  ERR_clear_error();
  if (key != nullptr) return key;
  return absl::InvalidArgumentError(
      absl::StrCat("--tls-key ", path,
                   file == nullptr ? ": cannot be read" : ": contains no private key in PEM form without password"));
}

absl::StatusOr<absl::Time> CertificateExpiry(const X509& certificate) {
  std::tm end = {};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(&certificate), &end) != 1) {
    return absl::InvalidArgumentError("--tls-cert: the end of the certificate's validity cannot be read");
  }
  return absl::FromTM(end, absl::UTCTimeZone());
}

absl::Status CheckIsValidNow(const X509& certificate, const std::string& path) {
  if (X509_cmp_current_time(X509_get0_notAfter(&certificate)) < 0) {
    return absl::InvalidArgumentError(absl::StrCat("--tls-cert ", path, ": the certificate has expired"));
  }
  if (X509_cmp_current_time(X509_get0_notBefore(&certificate)) > 0) {
    return absl::InvalidArgumentError(absl::StrCat("--tls-cert ", path, ": the certificate is not valid yet"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<absl::Time> CheckTlsFiles(const TlsFiles& files) {
  ASSIGN_OR_RETURN(CertificatePtr certificate, ReadCertificate("--tls-cert", files.cert));
  ASSIGN_OR_RETURN(KeyPtr key, ReadKey(files.key));
  const bool matches = X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  if (!matches) {
    return absl::InvalidArgumentError(
        absl::StrCat("--tls-key ", files.key, ": is not the key of the certificate in ", files.cert));
  }
  RETURN_IF_ERROR(CheckIsValidNow(*certificate, files.cert));
  if (!files.client_ca.empty()) {
    RETURN_IF_ERROR(ReadCertificate("--tls-client-ca", files.client_ca).status());
  }
  return CertificateExpiry(*certificate);
}

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeServerCredentials(const TlsFiles& files) {
  if (files.cert.empty()) return grpc::InsecureServerCredentials();
  RETURN_IF_ERROR(CheckTlsFiles(files).status());
  grpc::experimental::TlsServerCredentialsOptions options(
      std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(files.key, files.cert, files.client_ca,
                                                                           kLookEverySeconds));
  options.watch_identity_key_cert_pairs();
  if (!files.client_ca.empty()) {
    options.watch_root_certs();
    options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  std::shared_ptr<grpc::ServerCredentials> credentials = grpc::experimental::TlsServerCredentials(options);
  if (credentials == nullptr) return absl::InternalError("gRPC rejects the TLS files");
  return credentials;
}

}  // namespace telemetry::access
