#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/storage/sqlite/reseal_report.h"
#include "server/storage/store.h"

namespace telemetry::storage::sqlite {

// Options of OpenSqliteWriter().
struct WriterOptions {
  // SQLite's VFS; empty: the default VFS.
  std::string vfs;
  // The maximum time that a checkpoint waits for a reader.
  absl::Duration busy_timeout = absl::Milliseconds(100);
  // The writer checkpoints the write-ahead log each time it has grown by this many pages of 4 KiB.
  int checkpoint_pages = 4096;
  // If a reader (a backup) prevents a restart of the log and the log is three times as long, commits block for the
  // reader: once for at most this long, and then not again until the log is short. The log stays below 64 MiB if no
  // reader takes longer.
  absl::Duration reader_patience = absl::Seconds(20);
  std::function<absl::Time()> clock = absl::Now;
  // Called when the writer has sealed pages that another program had written, or moved from the log.
  std::function<void(const ResealReport&)> on_reseal = nullptr;
};

// Options of OpenSqliteReader().
struct ReaderOptions {
  std::string vfs;
  // Compares the dataset with the acknowledged records when it is opened. The collector that serves the dataset has
  // already done so.
  bool check_acked = true;
  // Verifies the file first if another program has written to it (VerifyForeignPages).
  bool verify_foreign = true;
  absl::Duration busy_timeout = absl::Seconds(5);
};

// Opens a writer of the dataset in a SQLite file. Creates the file if it does not exist, and migrates its schema.
// Errors: ALREADY_EXISTS if another collector holds the file (the message contains its pid); FAILED_PRECONDITION if the
// file is newer than this program, is not a dataset, or has several names (hard links); NOT_FOUND or PERMISSION_DENIED
// for the folder; DATA_LOSS if the file is damaged or acknowledged records are missing (the files are left unchanged);
// UNAVAILABLE for I/O errors.
absl::StatusOr<std::unique_ptr<StoreWriter>> OpenSqliteWriter(const std::string& path,
                                                              const WriterOptions& options = {});

// Opens a reader, whether a collector serves the file or not. Returns FAILED_PRECONDITION if the file is newer or older
// than this program, or is not a dataset; NOT_FOUND if the file does not exist; PERMISSION_DENIED, DATA_LOSS and
// UNAVAILABLE as above.
absl::StatusOr<std::unique_ptr<StoreReader>> OpenSqliteReader(const std::string& path,
                                                              const ReaderOptions& options = {});

}  // namespace telemetry::storage::sqlite
