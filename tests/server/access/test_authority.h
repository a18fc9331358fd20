#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

namespace telemetry::access {

// A certificate and its key, in PEM form.
struct Identity {
  std::string certificate;
  std::string key;
};

// A certificate authority that lives as long as the test.
class TestAuthority {
 public:
  explicit TestAuthority(const std::string& name);

  // Its own certificate, in PEM form.
  const std::string& certificate() const { return pem_; }
  // A certificate for that name and 127.0.0.1, valid from an hour ago until `valid_seconds` from now.
  Identity Issue(const std::string& name, long valid_seconds = 3600);

 private:
  struct Free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(X509* certificate) const { X509_free(certificate); }
  };
  using KeyPtr = std::unique_ptr<EVP_PKEY, Free>;
  using CertificatePtr = std::unique_ptr<X509, Free>;

  CertificatePtr Make(const std::string& name, EVP_PKEY* key, long valid_seconds, const char* constraints);

  const std::string name_;
  long serial_ = 0;
  const KeyPtr key_;
  const CertificatePtr certificate_;
  const std::string pem_;
};

}  // namespace telemetry::access
