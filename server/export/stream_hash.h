#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

struct evp_md_ctx_st;

namespace telemetry::exporter {

// SHA-256 of what is appended piece by piece. Not thread-safe.
class StreamHash {
 public:
  StreamHash();
  StreamHash(StreamHash&&) = default;

  void Update(std::string_view bytes);
  // 64 lower-case digits; called once, last. INTERNAL: the cryptographic library has no SHA-256.
  absl::StatusOr<std::string> Hex();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
  bool good_ = false;
};

}  // namespace telemetry::exporter
