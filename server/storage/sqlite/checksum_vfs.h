#pragma once

#include <cstdint>
#include <string>

#include "server/storage/sqlite/page_checksum.h"

struct sqlite3_file;

namespace telemetry::storage {

// A VFS of SQLite over another one, `base` (empty: the default one), that gives each page of a database with room for
// it (kPageTrailerBytes reserved) a checksum when the page is written to the database file, by a checkpoint too, and
// holds the page against it when it is read from there; memory maps are never used. Pages that do not fit are
// SQLITE_IOERR_DATA. A database without that room is passed through as it is. The write-ahead log has checksums of its
// own; the seals of its pages are recorded beside it (LogSeals). The first page lies in the file with a hidden size
// (HideSize), which SQLite above never sees.
// Returns the name to open connections with; the base must be registered for as long as they are. Thread-safe.
std::string ChecksumVfsOver(const std::string& base);

// Pages of a file that may be read beside sealed and logged ones.
struct Admission {
  bool foreign = false;
  bool damaged = false;  // and foreign ones
};
// `file` is SQLITE_FCNTL_FILE_POINTER of a connection over ChecksumVfsOver, as below. A file begins with neither.
Admission& AdmissionOf(sqlite3_file* file);

// Reads page `number`, whose size is `bytes`, as it lies in the file and whatever is admitted. Returns SQLite's code:
// SQLITE_IOERR_DATA where the file ends before the page does. Without checksums every page counts as sealed.
int ReadPageAsItLies(sqlite3_file* file, uint32_t number, char* page, int bytes, PageState* state);

// Describes the damage for a person: LastPageDamage gives it back.
void NameDamage(sqlite3_file* file, uint32_t number);

// What was found in this thread when SQLite last gave SQLITE_IOERR_DATA here: which page of which file.
const std::string& LastPageDamage();

}  // namespace telemetry::storage
