#pragma once

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"

namespace telemetry::storage::sqlite {

// The last eight bytes of each page of a dataset's file, which SQLite does not use (its "reserved bytes"):
//
//   page number:u32  crc:u32       little-endian; crc is the CRC-32C of all bytes before it
//
// The trailer (seal) detects a flipped bit, a page that was written to the wrong place, and a page that was not
// written. When another program writes a page, it copies these bytes unchanged, so the trailer no longer matches. All
// functions here are pure.
inline constexpr int kPageTrailerBytes = 8;
inline constexpr int kLeastPageBytes = 512;

// Writes the trailer. `page` is a complete page of 512 to 65536 bytes.
void SealPage(uint32_t number, char* page, int page_bytes);
bool IsSealed(uint32_t number, std::string_view page);

// Returns the crc that SealPage() would write.
uint32_t ComputeSeal(uint32_t number, std::string_view page);

// The state of a page in the database file.
enum class PageState {
  kSealed,   // the trailer matches
  kLogged,   // the page matches a seal that was recorded when it was written to the write-ahead log (LogSeals)
  kForeign,  // neither, as for a page that another program wrote
  kDamaged,  // one bit from a state above, another page's content, or a first page that no other program wrote
};

// Returns the state of a page. `logged` holds the seals recorded for this page.
PageState ComputePageState(uint32_t number, std::string_view page, absl::Span<const uint32_t> logged);

// Page layout according to the header of a database. A damaged first page may contain any value.
struct PageLayout {
  int page_bytes = 0;    // 0: not the header of a database
  bool checked = false;  // pages have trailers
};
inline constexpr int kDatabaseHeaderBytes = 100;
// Parses the header at the beginning of `first`. If `first` is the complete first page, its trailer counts too, so that
// one flipped bit cannot make the file look like one without checksums.
PageLayout ParsePageLayout(std::string_view first);

// In the database file, the header that this program writes states no valid size: it stores the complements of the size
// and of the change counter's copy ("version-valid-for"), and SQLite uses the size of the file instead, as the file
// format prescribes. Any other SQLite corrects the size at the beginning of each write transaction. A first page whose
// size is still hidden therefore proves that no other program has written to the file. Without this mark, a transaction
// in WAL mode that does not change the page count does not touch the first page.
// Hide or show the size in the database header at `header`. Do nothing if it already is hidden or shown.
void HideSize(char* header);
void ShowSize(char* header);

}  // namespace telemetry::storage::sqlite
