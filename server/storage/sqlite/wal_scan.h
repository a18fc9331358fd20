#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "server/storage/sqlite/sqlite_database.h"

namespace telemetry::storage::sqlite {

// The result of scanning the write-ahead log of a database on disk. SQLite reads the log up to the last commit before
// the first frame whose checksum does not match, and silently ignores the rest. That is correct for a transaction that
// was interrupted, but hides damage in one that was acknowledged. Each frame's checksum continues from the one stored
// in the previous frame, so frames after a bad frame can still be verified: a frame that follows a commit was written
// when everything up to that commit was on disk.
struct WalScan {
  uint64_t bytes = 0;  // size of the file; 0: missing or empty
  bool header_ok = false;
  uint64_t salts = 0;         // of the header; SQLite chooses new ones each time it restarts the log
  uint32_t committed = 0;     // frames up to the last commit that SQLite finds
  uint32_t durable = 0;       // frames up to the last commit that certainly was on disk once; above `committed`: damage
  uint32_t first_bad = 0;     // the first frame after the undamaged ones, from 1; 0: the header
  uint64_t first_bad_at = 0;  // its offset in the file
  absl::flat_hash_set<uint32_t> pages;  // pages in the committed frames
};

// Scans the log of the connection, in a transaction if other processes may write. Errors are I/O errors.
absl::StatusOr<WalScan> ScanWal(SqliteDatabase& database);

// Returns the current WalScan::salts of the log; 0: no log. Errors are I/O errors.
absl::StatusOr<uint64_t> ReadWalSalts(SqliteDatabase& database);

// Returns the maximum number of padding frames. On a disk where a write may damage neighbouring sectors, SQLite repeats
// a commit's last frame until it fills a sector, and does not wait for all of the repetitions. Errors are I/O errors.
absl::StatusOr<uint32_t> PaddingFrames(SqliteDatabase& database);

// Describes the damage for people; nullopt: none.
std::optional<std::string> DescribeDamage(const WalScan& scan);

}  // namespace telemetry::storage::sqlite
