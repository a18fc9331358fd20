#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

struct evp_md_ctx_st;

namespace telemetry::record {

// A SHA-256 hash that is computed piece by piece. Not thread-safe.
class StreamHash {
 public:
  StreamHash();
  StreamHash(StreamHash&&) = default;

  void Update(std::string_view bytes);
  // Returns 64 lower-case digits. Must be called once, last. Returns INTERNAL if the cryptographic library has no
  // SHA-256.
  absl::StatusOr<std::string> Hex();

 private:
  // The deleter of an OpenSSL context.
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
  bool good_ = false;
};

}  // namespace telemetry::record
