#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sql/database.h"

namespace telemetry::storage::sqlite {

// A SQLite file of derived data that a process creates for itself: without checksums, without durability, removed at
// the end. One connection may write while any number of connections read. Thread-safe.
class ScratchFile {
 public:
  // Creates the file in a new folder below `folder` (empty: the system's folder for temporary files), which only this
  // user can read. `schema`: the statements that create its tables. UNAVAILABLE: the folder cannot be written.
  static absl::StatusOr<std::unique_ptr<ScratchFile>> Create(const std::string& folder, const char* schema);
  // Removes the file. Its connections must be closed.
  ~ScratchFile();

  // Opens the connection that writes. Must be called once only.
  absl::StatusOr<std::unique_ptr<sql::Database>> OpenWriter() const;
  absl::StatusOr<std::unique_ptr<sql::Database>> OpenReader() const;

 private:
  explicit ScratchFile(std::string folder) : folder_(std::move(folder)) {}
  std::string Path() const { return folder_ + "/scratch.db"; }

  const std::string folder_;
};

}  // namespace telemetry::storage::sqlite
