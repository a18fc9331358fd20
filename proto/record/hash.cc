// SHA-256, CRC-32C and hex, the tools of ids.cc.

#include <isa-l/crc.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"

namespace telemetry::record {

std::string Sha256(std::string_view bytes) {
  std::string digest(32, '\0');
  EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()), nullptr, EVP_sha256(),
             nullptr);
  return digest;
}

std::string Sha256Hex(std::string_view bytes) { return HexEncode(Sha256(bytes)); }

std::string HexEncode(std::string_view bytes) { return absl::BytesToHexString(AbslView(bytes)); }

absl::StatusOr<std::string> HexDecode(std::string_view digits) {
  if (digits.size() % 2 != 0) return absl::InvalidArgumentError("hex with an odd number of digits");
  if (!std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return absl::ascii_isxdigit(c); })) {
    return absl::InvalidArgumentError("hex with a character that is not a digit");
  }
  return absl::HexStringToBytes(AbslView(digits));
}

uint32_t Crc32c(uint32_t crc, std::string_view bytes) {
  // The caller of isa-l must apply the inversions of RFC 3720. isa-l's length is an int.
  constexpr size_t kMostBytes = size_t{1} << 30;
  uint32_t state = ~crc;
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, kMostBytes);
    // The function only reads, although its parameter is not const.
    auto* data = reinterpret_cast<unsigned char*>(const_cast<char*>(part.data()));
    state = crc32_iscsi(data, static_cast<int>(part.size()), state);
    bytes.remove_prefix(part.size());
  }
  return ~state;
}

}  // namespace telemetry::record
