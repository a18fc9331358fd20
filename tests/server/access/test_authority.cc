#include "tests/server/access/test_authority.h"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace telemetry::access {
namespace {

constexpr long kVersion3 = 2;
constexpr long kHour = 3600;

EVP_PKEY* NewKey() { return EVP_EC_gen("P-256"); }

void AddExtension(X509* certificate, int kind, const std::string& value) {
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

X509_NAME* NewName(const std::string& common_name) {
  X509_NAME* name = X509_NAME_new();
  const auto* text = reinterpret_cast<const unsigned char*>(common_name.c_str());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, text, -1, -1, 0);
  return name;
}

template <typename Write>
std::string Pem(const Write& write) {
  BIO* memory = BIO_new(BIO_s_mem());
  write(memory);
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  std::string text(data, static_cast<size_t>(size));
  BIO_free(memory);
  return text;
}

std::string Pem(X509* certificate) {
  return Pem([certificate](BIO* out) { PEM_write_bio_X509(out, certificate); });
}

}  // namespace

TestAuthority::TestAuthority(const std::string& name)
    : name_(name),
      key_(NewKey()),
      certificate_(Make(name, key_.get(), kHour, "critical,CA:TRUE")),
      pem_(Pem(certificate_.get())) {}

Identity TestAuthority::Issue(const std::string& name, long valid_seconds) {
  const KeyPtr key(NewKey());
  const CertificatePtr certificate = Make(name, key.get(), valid_seconds, "critical,CA:FALSE");
  return {.certificate = Pem(certificate.get()),
          .key = Pem(
              [&key](BIO* out) { PEM_write_bio_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr); })};
}

TestAuthority::CertificatePtr TestAuthority::Make(const std::string& name, EVP_PKEY* key, long valid_seconds,
                                                  const char* constraints) {
  CertificatePtr certificate(X509_new());
  X509_set_version(certificate.get(), kVersion3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), ++serial_);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kHour);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), valid_seconds);
  X509_NAME* subject = NewName(name);
  X509_NAME* issuer = NewName(name_);
  X509_set_subject_name(certificate.get(), subject);
  X509_set_issuer_name(certificate.get(), issuer);
  X509_NAME_free(subject);
  X509_NAME_free(issuer);
  X509_set_pubkey(certificate.get(), key);
  AddExtension(certificate.get(), NID_basic_constraints, constraints);
  AddExtension(certificate.get(), NID_subject_alt_name, "DNS:" + name + ",IP:127.0.0.1");
  X509_sign(certificate.get(), key_.get(), EVP_sha256());
  return certificate;
}

}  // namespace telemetry::access
