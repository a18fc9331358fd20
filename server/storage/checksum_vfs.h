#pragma once

#include <string>

namespace telemetry::storage {

// A VFS of SQLite over another one, `base` (empty: the default one), that gives each page of a database with room for
// it (kPageTrailerBytes reserved) a checksum when the page is written to the database file, by a checkpoint too, and
// holds the page against it when it is read from there; memory maps are never used. Pages that do not fit are
// SQLITE_IOERR_DATA. A database without that room is passed through as it is. The write-ahead log has checksums of its
// own. Returns the name to open connections with; the base must be registered for as long as they are. Thread-safe.
std::string ChecksumVfsOver(const std::string& base);

// What was found in this thread when SQLite last gave SQLITE_IOERR_DATA here: which page of which file.
const std::string& LastPageDamage();

}  // namespace telemetry::storage
