#include "server/writer/disk_guard.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_format.h"
#include "proto/log/log.h"
#include "server/call/grpc_status.h"

namespace telemetry::writer {
namespace {

// The free space must exceed the limit by this fraction before records are accepted again, so that the changing size of
// the write-ahead log does not toggle the decision.
constexpr uint64_t kRoomFraction = 8;

std::filesystem::path ParentFolder(const std::string& path) {
  std::error_code error;
  const std::filesystem::path file = std::filesystem::absolute(path, error);
  const std::filesystem::path real = std::filesystem::weakly_canonical(file, error);
  return (error ? file : real).parent_path();
}

// Returns the mount point of the file system of `path`.
std::string FindMountPoint(const std::string& path) {
  std::filesystem::path folder = ParentFolder(path);
  struct stat inside = {};
  if (stat(folder.c_str(), &inside) != 0) return folder.string();
  while (folder.has_relative_path()) {
    struct stat above = {};
    if (stat(folder.parent_path().c_str(), &above) != 0 || above.st_dev != inside.st_dev) break;
    folder = folder.parent_path();
  }
  return folder.string();
}

std::string Mib(uint64_t bytes) { return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20)); }

}  // namespace

absl::StatusOr<uint64_t> FreeDiskBytes(const std::string& path) {
  struct statvfs disk = {};
  if (statvfs(path.c_str(), &disk) != 0) {
    const std::string folder = ParentFolder(path).string();
    if (statvfs(folder.c_str(), &disk) != 0)
      return absl::ErrnoToStatus(errno, "cannot read the free space of the disk of " + folder);
  }
  return uint64_t{disk.f_bavail} * disk.f_frsize;
}

DiskGuard::DiskGuard(DiskGuardOptions options) : options_(std::move(options)), disk_(FindMountPoint(options_.path)) {}

DiskGuard::~DiskGuard() { Stop(); }

void DiskGuard::Start(OnChange on_change) {
  {
    absl::MutexLock lock(&looking_);
    on_change_ = std::move(on_change);
  }
  Look();
  looks_.emplace(options_.interval, [this] { Look(); });
}

void DiskGuard::Stop() {
  looks_.reset();
  absl::MutexLock lock(&looking_);
  on_change_ = nullptr;
}

void DiskGuard::Look() {
  absl::MutexLock looking(&looking_);
  const absl::StatusOr<uint64_t> free_bytes = options_.free_bytes(options_.path);
  bool was_full = false;
  absl::Status full;
  {
    absl::MutexLock lock(&mutex_);
    free_bytes_ = free_bytes.ok() ? std::optional<uint64_t>(*free_bytes) : std::nullopt;
    if (!free_bytes.ok()) return;
    was_full = !full_.ok();
    full_ = full = Judge(*free_bytes);
  }
  if (was_full == !full.ok()) return;
  if (full.ok()) {
    log::Warn("the disk has room again: accepting records", {{"disk", disk_}, {"free_bytes", *free_bytes}});
  } else {
    log::Error("rejecting records; readers are still served", {{"reason", std::string(full.message())}});
  }
  if (on_change_) on_change_(full.ok());
}

absl::Status DiskGuard::Judge(uint64_t free_bytes) const {
  const uint64_t keep = options_.keep_free_bytes;
  const uint64_t enough = full_.ok() ? keep : keep + keep / kRoomFraction;
  if (free_bytes >= enough) return absl::OkStatus();
  return call::TryAgainLater(
      absl::StrFormat("the collector's disk at %s has %s free and must keep %s (--keep-free): free some space", disk_,
                      Mib(free_bytes), Mib(keep)),
      options_.retry_delay);
}

absl::Status DiskGuard::Check(uint64_t calls) {
  absl::MutexLock lock(&mutex_);
  if (!full_.ok()) turned_away_ += calls;
  return full_;
}

DiskGuard::State DiskGuard::state() const {
  absl::MutexLock lock(&mutex_);
  return {.free_bytes = free_bytes_, .keep_free_bytes = options_.keep_free_bytes, .turned_away = turned_away_};
}

}  // namespace telemetry::writer
