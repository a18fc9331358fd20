#include "server/storage/sqlite/page_checksum.h"

#include <algorithm>
#include <bit>

#include "proto/record/ids.h"

namespace telemetry::storage::sqlite {
namespace {

constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr int kPageSizeAt = 16;
constexpr int kReservedAt = 20;
constexpr int kCrcBytes = 4;
constexpr uint32_t kPolynomial = 0x82f63b78;  // of CRC-32C, lowest bit first
constexpr int kChangeCounterAt = 24;
constexpr int kSizeAt = 28;
constexpr int kVersionValidForAt = 92;

uint32_t LoadU32(const char* from) {
  uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(from[i]);
  return value;
}

void StoreU32(uint32_t value, char* to) {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<char>(value >> (8 * i));
}

uint32_t NumberIn(std::string_view page) { return LoadU32(page.data() + page.size() - kPageTrailerBytes); }
uint32_t CrcIn(std::string_view page) { return LoadU32(page.data() + page.size() - kCrcBytes); }

// Returns true if two messages of `bytes` bytes with these CRC-32C values may differ in only one bit. Of pairs of
// unrelated messages, one in 2^32 / (8 * bytes) gives a false positive. CRC is linear: the XOR of the two values is the
// CRC of a message with a single bit set, shifted by the number of zero bits that follow that bit. The loop shifts it
// back until the single bit appears.
bool DifferInOneBit(uint32_t crc, uint32_t other, size_t bytes) {
  uint32_t difference = crc ^ other;
  for (size_t bit = 0; bit < 8 * bytes; ++bit) {
    const uint32_t carried = difference >> 31;
    difference = (carried == 1 ? difference ^ kPolynomial : difference) << 1 | carried;
    if (difference == 1) return true;
  }
  return false;
}

bool IsSizeHidden(std::string_view header) {
  return LoadU32(header.data() + kVersionValidForAt) == ~LoadU32(header.data() + kChangeCounterAt);
}

void Invert(char* from) {
  std::transform(from, from + 4, from, [](char c) { return static_cast<char>(~c); });
}

int PageBytesIn(std::string_view header) {
  const int size =
      static_cast<unsigned char>(header[kPageSizeAt]) << 8 | static_cast<unsigned char>(header[kPageSizeAt + 1]);
  if (size == 1) return 65536;
  return size >= 512 && (size & (size - 1)) == 0 ? size : 0;
}

}  // namespace

void SealPage(uint32_t number, char* page, int page_bytes) {
  StoreU32(number, page + page_bytes - kPageTrailerBytes);
  const uint32_t crc = record::Crc32c(0, {page, static_cast<size_t>(page_bytes - kCrcBytes)});
  StoreU32(crc, page + page_bytes - kCrcBytes);
}

bool IsSealed(uint32_t number, std::string_view page) {
  return NumberIn(page) == number && CrcIn(page) == record::Crc32c(0, page.substr(0, page.size() - kCrcBytes));
}

uint32_t ComputeSeal(uint32_t number, std::string_view page) {
  char trailer[kPageTrailerBytes - kCrcBytes];
  StoreU32(number, trailer);
  const uint32_t content = record::Crc32c(0, page.substr(0, page.size() - kPageTrailerBytes));
  return record::Crc32c(content, {trailer, sizeof trailer});
}

PageState ComputePageState(uint32_t number, std::string_view page, absl::Span<const uint32_t> logged) {
  if (IsSealed(number, page)) return PageState::kSealed;
  const uint32_t seal = ComputeSeal(number, page);
  if (std::find(logged.begin(), logged.end(), seal) != logged.end()) return PageState::kLogged;
  const size_t sealed_bytes = page.size() - kCrcBytes;
  const uint32_t stored = CrcIn(page);
  if (NumberIn(page) == number) {
    if (std::has_single_bit(seal ^ stored) || DifferInOneBit(seal, stored, sealed_bytes)) return PageState::kDamaged;
  } else if (seal == stored || IsSealed(NumberIn(page), page)) {
    return PageState::kDamaged;
  }
  for (const uint32_t one : logged) {
    if (DifferInOneBit(seal, one, sealed_bytes)) return PageState::kDamaged;
  }
  return number == 1 && IsSizeHidden(page) ? PageState::kDamaged : PageState::kForeign;
}

void HideSize(char* header) {
  if (IsSizeHidden({header, kDatabaseHeaderBytes})) return;
  Invert(header + kSizeAt);
  StoreU32(~LoadU32(header + kChangeCounterAt), header + kVersionValidForAt);
}

void ShowSize(char* header) {
  if (!IsSizeHidden({header, kDatabaseHeaderBytes})) return;
  Invert(header + kSizeAt);
  StoreU32(LoadU32(header + kChangeCounterAt), header + kVersionValidForAt);
}

PageLayout ParsePageLayout(std::string_view first) {
  if (first.size() < kDatabaseHeaderBytes) return {};
  const bool whole_page = first.size() >= 512;
  const bool has_number = whole_page && NumberIn(first) == 1;
  const bool is_database = first.substr(0, kMagic.size()) == kMagic && PageBytesIn(first) != 0;
  if (!is_database && !has_number) return {};
  return {.page_bytes = whole_page ? static_cast<int>(first.size()) : PageBytesIn(first),
          .checked = first[kReservedAt] == kPageTrailerBytes || has_number};
}

}  // namespace telemetry::storage::sqlite
