#pragma once

#include <cstdint>
#include <string>

#include "server/storage/sqlite/page_checksum.h"

struct sqlite3_file;

namespace telemetry::storage::sqlite {

// Registers a SQLite VFS on top of `base` (empty: the default VFS) and returns the name to open connections with.
// `base` must stay registered as long as these connections exist. Thread-safe.
//
// If a database reserves kPageTrailerBytes in each page, the VFS adds a checksum to each page that is written to the
// database file, also by a checkpoint, and verifies it when the page is read. It never uses memory maps. A page that
// does not match gives SQLITE_IOERR_DATA. A database without reserved bytes is passed through unchanged. The
// write-ahead log has checksums of its own; the seals of its pages are recorded beside it (LogSeals). The first page is
// stored in the file with a hidden size (HideSize), which SQLite above the VFS never sees.
std::string ChecksumVfsOver(const std::string& base);

// The pages that a file may return besides sealed and logged ones. Both are false when a file is opened.
struct Admission {
  bool foreign = false;
  bool damaged = false;  // also returns foreign pages
};
// Returns the admission of a file, to be changed in place. `file`, here and below, is the SQLITE_FCNTL_FILE_POINTER of
// a connection over ChecksumVfsOver().
Admission& MutableAdmission(sqlite3_file* file);

// Reads page `number` of `bytes` bytes as it is stored in the file, whatever is admitted. Returns SQLite's result code:
// SQLITE_IOERR_DATA if the file ends before the page does. In a file without checksums every page counts as sealed.
int ReadPageAsItLies(sqlite3_file* file, uint32_t number, char* page, int bytes, PageState* state);

// Records a description of the damage, which LastPageDamage() returns.
void NameDamage(sqlite3_file* file, uint32_t number);

// Returns a description of the last damage that made the VFS return SQLITE_IOERR_DATA in this thread: the page and the
// file.
const std::string& LastPageDamage();

}  // namespace telemetry::storage::sqlite
