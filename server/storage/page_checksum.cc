#include "server/storage/page_checksum.h"

#include "proto/record/ids.h"

namespace telemetry::storage {
namespace {

constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr int kPageSizeAt = 16;
constexpr int kReservedAt = 20;
constexpr int kCrcBytes = 4;

uint32_t LoadU32(const char* from) {
  uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(from[i]);
  return value;
}

void StoreU32(uint32_t value, char* to) {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<char>(value >> (8 * i));
}

uint32_t NumberIn(std::string_view page) { return LoadU32(page.data() + page.size() - kPageTrailerBytes); }

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
  return NumberIn(page) == number &&
         LoadU32(page.data() + page.size() - kCrcBytes) == record::Crc32c(0, page.substr(0, page.size() - kCrcBytes));
}

PageLayout LayoutOf(std::string_view first) {
  if (first.size() < kDatabaseHeaderBytes) return {};
  const bool whole_page = first.size() >= 512;
  const bool has_number = whole_page && NumberIn(first) == 1;
  const bool is_database = first.substr(0, kMagic.size()) == kMagic && PageBytesIn(first) != 0;
  if (!is_database && !has_number) return {};
  return {.page_bytes = whole_page ? static_cast<int>(first.size()) : PageBytesIn(first),
          .checked = first[kReservedAt] == kPageTrailerBytes || has_number};
}

}  // namespace telemetry::storage
