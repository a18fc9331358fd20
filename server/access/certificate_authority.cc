#include "server/access/certificate_authority.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <cstdint>
#include <string_view>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::access {
namespace {

constexpr long kVersion3 = 2;
constexpr long kBackdatedSeconds = 3600;
// The longest common name (RFC 5280, ub-common-name).
constexpr size_t kLongestName = 64;

// Extensions by their OpenSSL NID, with values in OpenSSL's syntax (x509v3_config(5)).
using Extensions = std::vector<std::pair<int, std::string>>;

absl::Status Failed(std::string_view action) {
  const char* reason = ERR_reason_error_string(ERR_get_error());
  return absl::InternalError(
      record::Cat("OpenSSL cannot ", action, ": ", reason == nullptr ? "unknown error" : reason));
}

absl::Status CheckName(const std::string& name) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:-_*";
  const bool fits = !name.empty() && name.size() <= kLongestName;
  if (fits && name.find_first_not_of(kAllowed) == std::string::npos) return absl::OkStatus();
  return absl::InvalidArgumentError(
      record::Cat("'", name, "' is not a valid name for a certificate: use a host name or an IP address of at most ",
                  kLongestName, " letters, digits and .:-_*"));
}

// Returns the names in the syntax of the extension subjectAltName.
std::string AlternativeNames(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    in6_addr address = {};
    const bool is_address =
        inet_pton(AF_INET, name.c_str(), &address) == 1 || inet_pton(AF_INET6, name.c_str(), &address) == 1;
    text += record::Cat(text.empty() ? "" : ",", is_address ? "IP:" : "DNS:", name);
  }
  return text;
}

bool SetNames(X509* certificate, const std::string& subject, const X509* issuer) {
  X509_NAME* name = X509_get_subject_name(certificate);
  const auto* text = reinterpret_cast<const unsigned char*>(subject.c_str());
  if (X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, text, -1, -1, 0) != 1) return false;
  return X509_set_issuer_name(certificate, issuer == nullptr ? name : X509_get_subject_name(issuer)) == 1;
}

bool SetSerialNumber(X509* certificate) {
  uint64_t number = 0;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&number), sizeof number) != 1) return false;
  return ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), number >> 1) == 1;
}

bool AddExtensions(X509* certificate, X509* issuer, const Extensions& extensions) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  for (const auto& [kind, value] : extensions) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
    const bool added = extension != nullptr && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    if (!added) return false;
  }
  return true;
}

// Fills in and signs a certificate. `issuer` nullptr: the certificate is self-signed.
absl::Status Sign(X509* certificate, const std::string& subject, EVP_PKEY* key, X509* issuer, EVP_PKEY* issuer_key,
                  absl::Duration lifetime, const Extensions& extensions) {
  const bool signed_it =
      X509_set_version(certificate, kVersion3) == 1 && SetSerialNumber(certificate) &&
      X509_gmtime_adj(X509_getm_notBefore(certificate), -kBackdatedSeconds) != nullptr &&
      X509_gmtime_adj(X509_getm_notAfter(certificate), static_cast<long>(absl::ToInt64Seconds(lifetime))) != nullptr &&
      SetNames(certificate, subject, issuer) && X509_set_pubkey(certificate, key) == 1 &&
      AddExtensions(certificate, issuer == nullptr ? certificate : issuer, extensions) &&
      X509_sign(certificate, issuer_key, EVP_sha256()) > 0;
  return signed_it ? absl::OkStatus() : Failed("sign a certificate");
}

// Returns the text that `write` writes to a memory BIO, or an empty string if it fails.
template <typename Write>
std::string Pem(const Write& write) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> memory(BIO_new(BIO_s_mem()), &BIO_free);
  if (memory == nullptr || write(memory.get()) != 1) return "";
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &data);
  return {data, static_cast<size_t>(size)};
}

absl::StatusOr<Identity> EncodePem(X509* certificate, EVP_PKEY* key) {
  Identity identity;
  identity.certificate = Pem([certificate](BIO* out) { return PEM_write_bio_X509(out, certificate); });
  identity.key =
      Pem([key](BIO* out) { return PEM_write_bio_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr); });
  if (identity.certificate.empty() || identity.key.empty()) return Failed("write a certificate");
  return identity;
}

}  // namespace

absl::StatusOr<CertificateAuthority> CertificateAuthority::Create(const std::string& name, absl::Duration lifetime) {
  CertificateAuthority authority;
  authority.key_.reset(EVP_EC_gen("P-256"));
  authority.certificate_.reset(X509_new());
  if (authority.key_ == nullptr || authority.certificate_ == nullptr) return Failed("make a key");
  const Extensions extensions = {{NID_basic_constraints, "critical,CA:TRUE"},
                                 {NID_key_usage, "critical,keyCertSign,cRLSign"},
                                 {NID_subject_key_identifier, "hash"}};
  RETURN_IF_ERROR(Sign(authority.certificate_.get(), name, authority.key_.get(), nullptr, authority.key_.get(),
                       lifetime, extensions));
  ASSIGN_OR_RETURN(Identity identity, EncodePem(authority.certificate_.get(), authority.key_.get()));
  authority.identity_ = std::move(identity);
  return authority;
}

absl::StatusOr<Identity> CertificateAuthority::Issue(const std::vector<std::string>& names,
                                                     absl::Duration lifetime) const {
  if (names.empty()) return absl::InvalidArgumentError("a certificate needs a name");
  for (const std::string& name : names) {
    RETURN_IF_ERROR(CheckName(name));
  }
  const KeyPtr key(EVP_EC_gen("P-256"));
  const CertificatePtr certificate(X509_new());
  if (key == nullptr || certificate == nullptr) return Failed("make a key");
  const Extensions extensions = {
      {NID_basic_constraints, "critical,CA:FALSE"},   {NID_key_usage, "critical,digitalSignature"},
      {NID_ext_key_usage, "serverAuth,clientAuth"},   {NID_subject_key_identifier, "hash"},
      {NID_authority_key_identifier, "keyid:always"}, {NID_subject_alt_name, AlternativeNames(names)}};
  RETURN_IF_ERROR(
      Sign(certificate.get(), names.front(), key.get(), certificate_.get(), key_.get(), lifetime, extensions));
  return EncodePem(certificate.get(), key.get());
}

}  // namespace telemetry::access
