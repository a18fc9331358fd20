#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/storage/sqlite/reseal_report.h"
#include "server/storage/store.h"

namespace telemetry::storage {

struct WriterOptions {
  // SQLite's VFS; empty: the default one.
  std::string vfs;
  // How long a checkpoint waits for a reader.
  absl::Duration busy_timeout = absl::Milliseconds(100);
  // The write-ahead log is moved into the database each time it has grown by this many pages of 4 KiB.
  int checkpoint_pages = 4096;
  // Where a reader (a backup) keeps the log from being begun anew and it is three times as long, commits wait for the
  // reader: so long once, and then no more until the log is short again. The log stays below 64 MiB beside readers that
  // take no longer.
  absl::Duration reader_patience = absl::Seconds(20);
  std::function<absl::Time()> clock = absl::Now;
  // Called when pages were sealed that another program had written, or moved from the log.
  std::function<void(const ResealReport&)> on_reseal = nullptr;
};

struct ReaderOptions {
  std::string vfs;
  // Hold the dataset against what was acknowledged when it is opened. The collector that serves it has done so.
  bool check_acked = true;
  // Verify the file first where another program has written to it (VerifyForeignPages).
  bool verify_foreign = true;
  absl::Duration busy_timeout = absl::Seconds(5);
};

// The dataset in a SQLite file, made when it is not there, its schema brought up to date.
// ALREADY_EXISTS: another collector has it; the message names its pid. FAILED_PRECONDITION: it is newer than this
// program, no dataset, or has several names (hard links). NOT_FOUND, PERMISSION_DENIED: the folder. DATA_LOSS: it is
// damaged, or acknowledged records are missing; the files are left as they are. UNAVAILABLE: the disk.
absl::StatusOr<std::unique_ptr<StoreWriter>> OpenSqliteWriter(const std::string& path,
                                                              const WriterOptions& options = {});

// A reader, whether a collector serves the file or not. FAILED_PRECONDITION: newer or older than this program, or no
// dataset. NOT_FOUND: there is no such file. PERMISSION_DENIED, DATA_LOSS, UNAVAILABLE: as above.
absl::StatusOr<std::unique_ptr<StoreReader>> OpenSqliteReader(const std::string& path,
                                                              const ReaderOptions& options = {});

}  // namespace telemetry::storage
