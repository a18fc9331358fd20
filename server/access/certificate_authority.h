#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace telemetry::access {

// A certificate and its private key, in PEM form.
struct Identity {
  std::string certificate;
  std::string key;
};

// A certificate authority for the certificates of one collector and its clients (X.509 version 3, ECDSA with P-256).
// Not thread-safe.
class CertificateAuthority {
 public:
  // Creates an authority with a new key. Its certificate is valid from an hour ago, to allow for clock differences,
  // until `lifetime` from now. INTERNAL: OpenSSL failed.
  static absl::StatusOr<CertificateAuthority> Create(const std::string& name, absl::Duration lifetime);

  const Identity& identity() const { return identity_; }

  // Issues a certificate for these host names and IP addresses; the first one is the common name. The certificate is
  // valid for clients and servers. The validity begins and ends as in Create. INVALID_ARGUMENT: there is no name, or a
  // name is too long or contains characters other than letters, digits and ".:-_*". INTERNAL: OpenSSL failed.
  absl::StatusOr<Identity> Issue(const std::vector<std::string>& names, absl::Duration lifetime) const;

 private:
  struct Free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(X509* certificate) const { X509_free(certificate); }
  };
  using KeyPtr = std::unique_ptr<EVP_PKEY, Free>;
  using CertificatePtr = std::unique_ptr<X509, Free>;

  KeyPtr key_;
  CertificatePtr certificate_;
  Identity identity_;
};

}  // namespace telemetry::access
