#include "proto/access/bearer_token.h"

#include <openssl/rand.h>

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"

namespace telemetry::access {
namespace {

constexpr std::string_view kPrefix = "tt_";
constexpr size_t kRandomBytes = 32;
constexpr size_t kRandomCharacters = 43;

}  // namespace

absl::StatusOr<std::string> MakeToken() {
  std::array<unsigned char, kRandomBytes> random;
  if (RAND_bytes(random.data(), random.size()) != 1) return absl::InternalError("the system provides no random bytes");
  const absl::string_view bytes(reinterpret_cast<const char*>(random.data()), random.size());
  return std::string(kPrefix) + absl::WebSafeBase64Escape(bytes);
}

bool IsToken(std::string_view text) {
  return text.size() == kPrefix.size() + kRandomCharacters && text.starts_with(kPrefix) &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return absl::ascii_isalnum(c) || c == '-' || c == '_'; });
}

}  // namespace telemetry::access
