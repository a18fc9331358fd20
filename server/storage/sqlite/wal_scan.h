#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "server/storage/sqlite/sqlite_database.h"

namespace telemetry::storage {

// The write-ahead log of a database as it lies on the disk. SQLite takes it up to the last commit before the first
// frame whose checksum does not fit, and forgets the rest without a word. That is right for a transaction that was cut
// off, and hides damage in one that was acknowledged. Each checksum goes on from the one stored in the frame before, so
// what lies behind a bad frame can still be told: a frame that follows a commit was written when everything up to that
// commit was on the disk.
struct WalScan {
  uint64_t bytes = 0;  // of the file; 0: there is none, or it is empty
  bool header_ok = false;
  uint64_t salts = 0;      // of the header, which SQLite draws anew each time that it begins the log again
  uint32_t committed = 0;  // frames up to the last commit that SQLite finds
  uint32_t durable = 0;  // frames up to the last commit that was once on the disk for certain; above committed: damage
  uint32_t first_bad = 0;               // the first frame behind the undamaged ones, from 1; 0: the header
  uint64_t first_bad_at = 0;            // its offset in the file
  absl::flat_hash_set<uint32_t> pages;  // that `committed` frames hold
};

// Scans the log that the connection has open, in a transaction where others may write. Errors are the disk's.
absl::StatusOr<WalScan> ScanWal(SqliteDatabase& database);

// WalScan::salts of the log as it is now; 0: there is none. Errors are the disk's.
absl::StatusOr<uint64_t> ReadWalSalts(SqliteDatabase& database);

// On a disk where a write may hurt its neighbours, SQLite repeats a commit's last frame until it fills a sector, and
// does not wait for all of the repetitions: at most so many. Errors are the disk's.
absl::StatusOr<uint32_t> PaddingFrames(SqliteDatabase& database);

// What is damaged, for a person; empty: nothing.
std::optional<std::string> DamageOf(const WalScan& scan);

}  // namespace telemetry::storage
