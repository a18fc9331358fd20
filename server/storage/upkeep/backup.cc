#include "server/storage/upkeep/backup.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/storage/sql/statement.h"
#include "server/storage/sqlite/dataset_file.h"
#include "server/storage/sqlite/private_file.h"

namespace telemetry::storage::upkeep {
namespace {

absl::Status Sync(const std::string& path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  const int result = fsync(fd);
  const int error = errno;
  close(fd);
  return result == 0 ? absl::OkStatus() : absl::ErrnoToStatus(error, absl::StrCat("cannot sync ", path));
}

absl::Status Copy(const std::string& from, const std::string& to) {
  // Also backs up a dataset with missing acknowledged records: this is how an operator continues with such a dataset.
  ASSIGN_OR_RETURN(sqlite::SqliteDatabase database,
                   sqlite::OpenDatasetForReading(from, {.vfs = {}, .check_acked = false}));
  // VACUUM INTO accepts an empty file.
  RETURN_IF_ERROR(sqlite::MakePrivateFile(to));
  // VACUUM INTO reads one snapshot. Unlike the backup API, it does not restart with each commit of the writer.
  return sql::Statement(database, "VACUUM INTO ?1").Bind(to).Run();
}

// link() never replaces a file, so the second of two backups with the same name fails.
absl::Status Publish(const std::string& draft, const std::string& to) {
  if (link(draft.c_str(), to.c_str()) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot link the copy to ", to));
}

}  // namespace

absl::Status SyncParentFolder(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return Sync(folder.empty() ? "." : folder.string(), O_RDONLY | O_DIRECTORY);
}

absl::Status BackUpDataset(const std::string& from, const std::string& to) {
  if (std::filesystem::exists(to)) {
    return absl::AlreadyExistsError(absl::StrCat(to, " already exists: give another --to, or move the file away"));
  }
  const std::string draft = absl::StrCat(to, ".draft-", getpid());
  absl::Cleanup remove = [&draft] { unlink(draft.c_str()); };
  absl::Status status = Copy(from, draft);
  if (status.ok()) status = Sync(draft, O_RDONLY);
  if (status.ok()) status = Publish(draft, to);
  if (!status.ok()) return status;
  return SyncParentFolder(to);
}

}  // namespace telemetry::storage::upkeep
