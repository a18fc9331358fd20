#include "proto/record/stream_hash.h"

#include <openssl/evp.h>

#include "proto/record/ids.h"

namespace telemetry::record {

void StreamHash::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

StreamHash::StreamHash() : context_(EVP_MD_CTX_new()) {
  good_ = EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1;
}

void StreamHash::Update(std::string_view bytes) {
  good_ = good_ && EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1;
}

absl::StatusOr<std::string> StreamHash::Hex() {
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned int size = 0;
  if (!good_ || EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(digest.data()), &size) != 1) {
    return absl::InternalError("the cryptographic library has no SHA-256");
  }
  digest.resize(size);
  return HexEncode(digest);
}

}  // namespace telemetry::record
