#pragma once

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"

namespace telemetry::storage {

// The last eight bytes of each page of a dataset's file, which SQLite leaves alone (its "reserved bytes"):
//
//   page number:u32  crc:u32       little-endian; crc is CRC-32C of everything before it
//
// The trailer shows a flipped bit, and a page that was written to the wrong place or not at all. Other programs carry
// the bytes along unchanged when they write a page, so that the trailer no longer matches. Pure functions.
inline constexpr int kPageTrailerBytes = 8;

// `page` is a whole page, from 512 to 65536 bytes.
void SealPage(uint32_t number, char* page, int page_bytes);
bool IsSealed(uint32_t number, std::string_view page);

// Returns the crc of the trailer that SealPage gives the page.
uint32_t SealOf(uint32_t number, std::string_view page);

enum class PageState {
  kSealed,   // the trailer matches
  kLogged,   // the page matches a seal that was recorded when it was written to the write-ahead log (LogSeals)
  kForeign,  // neither, as another program leaves a page that it writes
  kDamaged,  // one bit from a state above, another page's content, or a first page that no other program wrote
};

// `logged` holds the seals recorded for this page.
PageState StateOf(uint32_t number, std::string_view page, absl::Span<const uint32_t> logged);

// What the header of a database says. A file whose first page has been damaged may say anything.
struct PageLayout {
  int page_bytes = 0;    // 0: no header of a database
  bool checked = false;  // pages have trailers
};
inline constexpr int kDatabaseHeaderBytes = 100;
// `first` begins with the header; with the whole first page its trailer counts, too, so that one flipped bit cannot
// pass for a file without checksums.
PageLayout LayoutOf(std::string_view first);

// In the database file, the header that this program writes states no valid size: it stores the complements of the
// size and of the change counter's copy ("version-valid-for"), and SQLite takes the size from the file instead, as the
// file format prescribes. Any other SQLite corrects the size at the beginning of each write transaction. Therefore a
// first page whose size is still hidden proves that no other program has written to the file. Without this, a
// transaction in WAL mode that leaves the page count alone does not touch the first page.
// Hides or shows the size in a header that begins at `header`; does nothing where it is hidden or shown already.
void HideSize(char* header);
void ShowSize(char* header);

}  // namespace telemetry::storage
