#pragma once

#include <cstdint>
#include <string_view>

namespace telemetry::storage {

// The last eight bytes of each page of a dataset's file, which SQLite leaves alone (its "reserved bytes"):
//
//   page number:u32  crc:u32       little-endian; crc is CRC-32C of everything before it
//
// So a flipped bit is found, and a page that was written to the wrong place or not at all. Pure functions.
inline constexpr int kPageTrailerBytes = 8;

// `page` is a whole page, from 512 to 65536 bytes.
void SealPage(uint32_t number, char* page, int page_bytes);
bool IsSealed(uint32_t number, std::string_view page);

// What the header of a database says. A file whose first page has been damaged may say anything.
struct PageLayout {
  int page_bytes = 0;    // 0: no header of a database
  bool checked = false;  // pages have trailers
};
inline constexpr int kDatabaseHeaderBytes = 100;
// `first` begins with the header; with the whole first page its trailer counts, too, so that one flipped bit cannot
// pass for a file without checksums.
PageLayout LayoutOf(std::string_view first);

}  // namespace telemetry::storage
