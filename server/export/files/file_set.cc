#include "server/export/files/file_set.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/export/files/snapshot_names.h"

namespace telemetry::exporter::files {
namespace {

constexpr char kPartial[] = ".partial";
constexpr char kSnapshot[] = ".snapshot.json";
constexpr char kIncomplete[] = ".incomplete";

absl::Status Rename(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot rename ", from, " to ", to));
}

// Returns the contents of a file, or an empty text if the file cannot be read.
std::string ReadWhole(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return "";  // because reading a folder throws
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Returns true if `fd` refers to the file that has this path now, and not to a file that has been renamed meanwhile.
bool HasPath(int fd, const std::string& path) {
  struct stat open_file;
  struct stat named_file;
  return fstat(fd, &open_file) == 0 && stat(path.c_str(), &named_file) == 0 && open_file.st_ino == named_file.st_ino &&
         open_file.st_dev == named_file.st_dev;
}

// Opens or creates the file and locks it. `wait` is 0 or LOCK_NB. Returns UNAVAILABLE if another process holds the
// lock.
absl::StatusOr<int> OpenLocked(const std::string& path, int wait) {
  while (true) {
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", path, " (the folder must exist and be writable)"));
    }
    if (flock(fd, LOCK_EX | wait) != 0) {
      const int error = errno;
      close(fd);
      if (error == EINTR) continue;
      if (error == EWOULDBLOCK) return absl::UnavailableError(absl::StrCat(path, " is locked"));
      return absl::ErrnoToStatus(error, absl::StrCat("cannot lock ", path));
    }
    if (HasPath(fd, path)) return fd;
    close(fd);  // the previous lock holder has just renamed or removed the file
  }
}

absl::Status Unlink(const std::string& path) {
  if (unlink(path.c_str()) == 0 || errno == ENOENT) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot remove ", path));
}

absl::Status WriteWhole(int fd, const std::string& path, std::string_view text) {
  if (ftruncate(fd, 0) != 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
  while (!text.empty()) {
    ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
    text.remove_prefix(static_cast<size_t>(written));
  }
  if (fsync(fd) != 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot fsync ", path));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<FileSet>> FileSet::Create(const std::string& base, Compression compression, bool force) {
  size_t slash = base.rfind('/');
  std::string folder = slash == std::string::npos ? "" : base.substr(0, slash + 1);
  std::string name = base.substr(folder.size());
  if (name.empty() || name == "." || name == "..") {
    return absl::InvalidArgumentError(
        absl::StrCat("the output base '", base, "' names a folder: add a file name, as in ", folder, "dataset"));
  }
  std::unique_ptr<FileSet> files(new FileSet(std::move(folder), std::move(name), compression));
  RETURN_IF_ERROR(files->Lock());
  files->RecogniseEarlier(force);
  return files;
}

FileSet::FileSet(std::string folder, std::string name, Compression compression)
    : folder_(std::move(folder)), name_(std::move(name)), compression_(compression) {}

FileSet::~FileSet() {
  for (const auto& [name, file] : files_) unlink(file->path().c_str());
  if (marker_fd_ >= 0) close(marker_fd_);
  if (lock_fd_ < 0) return;
  if (const std::string path = absl::StrCat(SnapshotPath(), kPartial); HasPath(lock_fd_, path)) unlink(path.c_str());
  close(lock_fd_);
}

std::string FileSet::SnapshotPath() const { return absl::StrCat(folder_, name_, kSnapshot); }
std::string FileSet::MarkerPath() const { return absl::StrCat(folder_, name_, kIncomplete); }

absl::Status FileSet::Lock() {
  const std::string path = absl::StrCat(SnapshotPath(), kPartial);
  absl::StatusOr<int> locked = OpenLocked(path, LOCK_NB);
  if (absl::IsUnavailable(locked.status())) {
    return absl::UnavailableError(absl::StrCat("another export is writing ", folder_, name_,
                                               ": wait for its end, or choose another output base"));
  }
  if (!locked.ok()) return locked.status();
  lock_fd_ = *locked;
  return absl::OkStatus();
}

void FileSet::RecogniseEarlier(bool force) {
  struct stat marker;
  may_replace_all_ = force || lstat(MarkerPath().c_str(), &marker) == 0;
  for (std::string& name : FileNamesInSnapshot(ReadWhole(SnapshotPath()))) earlier_names_.insert(std::move(name));
  if (!earlier_names_.empty()) earlier_names_.insert(absl::StrCat(name_, kSnapshot));
}

absl::Status FileSet::Append(std::string_view suffix, std::string_view text) {
  std::string name = absl::StrCat(name_, std::string(suffix), std::string(CompressionSuffix(compression_)));
  auto found = files_.find(name);
  if (found == files_.end()) {
    RETURN_IF_ERROR(CheckTarget(name));
    ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> file,
                     OutputFile::Create(absl::StrCat(folder_, name, kPartial), compression_));
    found = files_.emplace(std::move(name), std::move(file)).first;
  }
  return found->second->Append(text);
}

absl::StatusOr<std::vector<WrittenFile>> FileSet::Finish() {
  std::vector<WrittenFile> written;
  for (const auto& [name, file] : files_) {
    RETURN_IF_ERROR(file->Finish());
    written.push_back({.name = name, .size_bytes = file->size_bytes(), .sha256_hex = file->sha256_hex()});
  }
  return written;
}

absl::Status FileSet::CheckTarget(const std::string& name) const {
  const std::string path = absl::StrCat(folder_, name);
  struct stat there;
  if (lstat(path.c_str(), &there) != 0) return absl::OkStatus();
  if (S_ISDIR(there.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is a folder: move it away, or choose another output base"));
  }
  if (may_replace_all_ || earlier_names_.contains(name)) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat(path, " is not from an earlier export (", SnapshotPath(),
                                               " does not name it): choose another --out, or replace it with --force"));
}

// Checks all names before the first rename, so that a bad name leaves the earlier export intact.
absl::Status FileSet::CheckTargets() const {
  absl::Status status = CheckTarget(absl::StrCat(name_, kSnapshot));
  if (status.ok()) status = CheckTarget(absl::StrCat(name_, kIncomplete));
  for (const auto& [name, file] : files_) {
    if (status.ok()) status = CheckTarget(name);
  }
  return status;
}

absl::Status FileSet::Publish(std::string_view snapshot_json) {
  RETURN_IF_ERROR(CheckTargets());
  const std::string partial_snapshot = absl::StrCat(SnapshotPath(), kPartial);
  absl::Status status = WriteWhole(lock_fd_, partial_snapshot, snapshot_json);
  if (status.ok()) status = Mark(snapshot_json);
  if (!status.ok()) return status;
  if (status = RenameAll(partial_snapshot); !status.ok()) {
    return {status.code(), absl::StrCat(status.message(), "; the files of ", folder_, name_,
                                        " may be from two exports (", MarkerPath(), "): repeat the export")};
  }
  files_.clear();
  return Unmark();
}

// Writes the marker to the disk before the first file of the earlier export is changed. The marker contains the new
// snapshot, so that the next export knows the files that an interrupted export may have left.
absl::Status FileSet::Mark(std::string_view snapshot_json) {
  ASSIGN_OR_RETURN(int marker, OpenLocked(MarkerPath(), /*wait=*/0));
  marker_fd_ = marker;
  const std::string left = ReadWhole(MarkerPath());
  absl::Status status = left.empty() ? absl::OkStatus() : RemoveOthers(left);
  if (status.ok()) status = WriteWhole(marker_fd_, MarkerPath(), snapshot_json);
  if (status.ok()) status = SyncFolder();
  if (!status.ok() && left.empty()) unlink(MarkerPath().c_str());  // no file was changed
  return status;
}

absl::Status FileSet::RenameAll(const std::string& partial_snapshot) {
  for (const auto& [name, file] : files_) {
    RETURN_IF_ERROR(Rename(file->path(), absl::StrCat(folder_, name)));
  }
  RETURN_IF_ERROR(RemoveOthers(ReadWhole(SnapshotPath())));
  RETURN_IF_ERROR(Rename(partial_snapshot, SnapshotPath()));
  return SyncFolder();
}

// Removes the marker, after all renames are durable.
absl::Status FileSet::Unmark() {
  RETURN_IF_ERROR(Unlink(MarkerPath()));
  return SyncFolder();
}

absl::Status FileSet::RemoveOthers(std::string_view snapshot_json) {
  for (const std::string& name : FileNamesInSnapshot(snapshot_json)) {
    // A user can edit a snapshot, so only files of this base are removed.
    if (!absl::StartsWith(name, absl::StrCat(name_, ".")) || absl::StrContains(name, '/')) continue;
    if (files_.contains(name)) continue;
    RETURN_IF_ERROR(Unlink(absl::StrCat(folder_, name)));
  }
  return absl::OkStatus();
}

absl::Status FileSet::SyncFolder() const {
  const std::string path = folder_.empty() ? "." : folder_;
  int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open the folder ", path));
  absl::Status status =
      fsync(fd) == 0 ? absl::OkStatus() : absl::ErrnoToStatus(errno, absl::StrCat("cannot fsync ", path));
  close(fd);
  return status;
}

}  // namespace telemetry::exporter::files
