#include "tests/server/storage/sqlite/power_cut_vfs.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

namespace telemetry::storage::sqlite {
namespace {

constexpr int kSectorBytes = 512;
constexpr int64_t kForEver = std::numeric_limits<int64_t>::max();

}  // namespace

// An open file of SQLite, which allocates the memory.
struct PowerCutFile {
  sqlite3_file base;
  PowerCutVfs* vfs;
  std::string* name;

  static PowerCutFile& Of(sqlite3_file* file) { return *reinterpret_cast<PowerCutFile*>(file); }
  static PowerCutVfs& GetVfs(sqlite3_vfs* vfs) { return *static_cast<PowerCutVfs*>(vfs->pAppData); }

  static int Close(sqlite3_file* file) {
    delete Of(file).name;
    return SQLITE_OK;
  }
  static int Read(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
    return Of(file).vfs->Read(*Of(file).name, to, size, offset);
  }
  static int Write(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
    return Of(file).vfs->Change(*Of(file).name, {.truncate = false,
                                                 .offset = static_cast<uint64_t>(offset),
                                                 .data = {static_cast<const char*>(from), static_cast<size_t>(size)}});
  }
  static int Truncate(sqlite3_file* file, sqlite3_int64 size) {
    return Of(file).vfs->Change(*Of(file).name, {.truncate = true, .offset = static_cast<uint64_t>(size), .data = {}});
  }
  static int Sync(sqlite3_file* file, int /*flags*/) { return Of(file).vfs->Sync(*Of(file).name); }
  static int FileSize(sqlite3_file* file, sqlite3_int64* size) {
    PowerCutVfs& vfs = *Of(file).vfs;
    absl::MutexLock lock(&vfs.mutex_);
    *size = static_cast<sqlite3_int64>(vfs.disks_[*Of(file).name].live.size());
    return SQLITE_OK;
  }
  // There is only one connection at a time, so locks do nothing.
  static int Lock(sqlite3_file*, int) { return SQLITE_OK; }
  static int CheckReservedLock(sqlite3_file*, int* reserved) {
    *reserved = 0;
    return SQLITE_OK;
  }
  static int FileControl(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
  static int SectorSize(sqlite3_file*) { return kSectorBytes; }
  static int DeviceCharacteristics(sqlite3_file*) { return 0; }
  static int ShmMap(sqlite3_file* file, int region, int size, int extend, void volatile** out) {
    PowerCutVfs& vfs = *Of(file).vfs;
    absl::MutexLock lock(&vfs.mutex_);
    auto& memory = vfs.disks_[*Of(file).name].shared_memory[region];
    if (memory == nullptr && extend != 0) memory = std::make_unique<char[]>(size);
    *out = memory.get();
    return SQLITE_OK;
  }
  static int ShmLock(sqlite3_file*, int, int, int) { return SQLITE_OK; }
  static void ShmBarrier(sqlite3_file*) {}
  static int ShmUnmap(sqlite3_file* file, int remove) {
    if (remove == 0) return SQLITE_OK;
    PowerCutVfs& vfs = *Of(file).vfs;
    absl::MutexLock lock(&vfs.mutex_);
    vfs.disks_[*Of(file).name].shared_memory.clear();
    return SQLITE_OK;
  }

  static int Open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags);
  static int Delete(sqlite3_vfs* vfs, const char* name, int /*sync_folder*/) {
    absl::MutexLock lock(&GetVfs(vfs).mutex_);
    if (!GetVfs(vfs).Spend()) return SQLITE_IOERR_DELETE;
    return GetVfs(vfs).disks_.erase(name) == 1 ? SQLITE_OK : SQLITE_IOERR_DELETE_NOENT;
  }
  static int Access(sqlite3_vfs* vfs, const char* name, int /*flags*/, int* yes) {
    absl::MutexLock lock(&GetVfs(vfs).mutex_);
    *yes = GetVfs(vfs).disks_.count(name) == 1 ? 1 : 0;
    return SQLITE_OK;
  }
  static int FullPathname(sqlite3_vfs*, const char* name, int size, char* out) {
    sqlite3_snprintf(size, out, "%s", name);
    return SQLITE_OK;
  }
};

namespace {

constexpr sqlite3_io_methods kMethods = {
    .iVersion = 2,
    .xClose = &PowerCutFile::Close,
    .xRead = &PowerCutFile::Read,
    .xWrite = &PowerCutFile::Write,
    .xTruncate = &PowerCutFile::Truncate,
    .xSync = &PowerCutFile::Sync,
    .xFileSize = &PowerCutFile::FileSize,
    .xLock = &PowerCutFile::Lock,
    .xUnlock = &PowerCutFile::Lock,
    .xCheckReservedLock = &PowerCutFile::CheckReservedLock,
    .xFileControl = &PowerCutFile::FileControl,
    .xSectorSize = &PowerCutFile::SectorSize,
    .xDeviceCharacteristics = &PowerCutFile::DeviceCharacteristics,
    .xShmMap = &PowerCutFile::ShmMap,
    .xShmLock = &PowerCutFile::ShmLock,
    .xShmBarrier = &PowerCutFile::ShmBarrier,
    .xShmUnmap = &PowerCutFile::ShmUnmap,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

}  // namespace

int PowerCutFile::Open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  auto* opened = new (file) PowerCutFile{.base = {}, .vfs = &GetVfs(vfs), .name = nullptr};
  absl::MutexLock lock(&opened->vfs->mutex_);
  const std::string path = name == nullptr ? "(temporary)" : name;
  if ((flags & SQLITE_OPEN_CREATE) == 0 && opened->vfs->disks_.count(path) == 0) return SQLITE_CANTOPEN;
  opened->vfs->disks_[path];
  opened->name = new std::string(path);
  opened->base.pMethods = &kMethods;
  if (out_flags != nullptr) *out_flags = flags;
  return SQLITE_OK;
}

PowerCutVfs::PowerCutVfs(const std::string& name)
    : name_(name), vfs_(std::make_unique<sqlite3_vfs>()), operations_left_(kForEver) {
  // Time, randomness and sleep are those of the default VFS.
  *vfs_ = *sqlite3_vfs_find(nullptr);
  vfs_->pNext = nullptr;
  vfs_->iVersion = 1;
  vfs_->szOsFile = sizeof(PowerCutFile);
  vfs_->zName = name_.c_str();
  vfs_->pAppData = this;
  vfs_->xOpen = &PowerCutFile::Open;
  vfs_->xDelete = &PowerCutFile::Delete;
  vfs_->xAccess = &PowerCutFile::Access;
  vfs_->xFullPathname = &PowerCutFile::FullPathname;
  sqlite3_vfs_register(vfs_.get(), /*makeDflt=*/0);
}

PowerCutVfs::~PowerCutVfs() { sqlite3_vfs_unregister(vfs_.get()); }

void PowerCutVfs::CutAfter(int64_t operations) {
  absl::MutexLock lock(&mutex_);
  operations_left_ = operations;
}

void PowerCutVfs::FailSyncs() {
  absl::MutexLock lock(&mutex_);
  fail_syncs_ = true;
}

void PowerCutVfs::IgnoreSyncs() {
  absl::MutexLock lock(&mutex_);
  ignore_syncs_ = true;
}

bool PowerCutVfs::Spend() {
  if (operations_left_ == 0) return false;
  if (operations_left_ != kForEver) --operations_left_;
  return operations_left_ > 0;
}

void PowerCutVfs::Apply(const Operation& operation, std::string* bytes) {
  if (operation.truncate) {
    if (operation.offset < bytes->size()) bytes->resize(operation.offset);
    return;
  }
  const uint64_t end = operation.offset + operation.data.size();
  if (bytes->size() < end) bytes->resize(end);
  std::memcpy(bytes->data() + operation.offset, operation.data.data(), operation.data.size());
}

int PowerCutVfs::Read(const std::string& file, void* to, int size, int64_t offset) {
  absl::MutexLock lock(&mutex_);
  const std::string& bytes = disks_[file].live;
  const int64_t there = std::clamp<int64_t>(static_cast<int64_t>(bytes.size()) - offset, 0, size);
  std::memset(to, 0, size);
  if (there > 0) std::memcpy(to, bytes.data() + offset, there);
  return there == size ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

int PowerCutVfs::Change(const std::string& file, Operation operation) {
  absl::MutexLock lock(&mutex_);
  if (!Spend()) return SQLITE_IOERR_WRITE;
  Disk& disk = disks_[file];
  Apply(operation, &disk.live);
  disk.unsynced.push_back(std::move(operation));
  return SQLITE_OK;
}

int PowerCutVfs::Sync(const std::string& file) {
  absl::MutexLock lock(&mutex_);
  if (!Spend() || fail_syncs_) return SQLITE_IOERR_FSYNC;
  if (ignore_syncs_) return SQLITE_OK;
  Disk& disk = disks_[file];
  for (const Operation& operation : disk.unsynced) Apply(operation, &disk.durable);
  disk.unsynced.clear();
  return SQLITE_OK;
}

void PowerCutVfs::Restore(std::mt19937_64& random) {
  absl::MutexLock lock(&mutex_);
  operations_left_ = kForEver;
  for (auto& [name, disk] : disks_) {
    for (const Operation& operation : disk.unsynced) {
      for (size_t at = 0; at < std::max<size_t>(operation.data.size(), 1); at += kSectorBytes) {
        if (random() % 2 == 0) continue;
        Operation sector{.truncate = operation.truncate, .offset = operation.offset + at, .data = {}};
        if (!operation.truncate) sector.data = operation.data.substr(at, kSectorBytes);
        Apply(sector, &disk.durable);
      }
    }
    disk.unsynced.clear();
    disk.live = disk.durable;
    disk.shared_memory.clear();
  }
}

}  // namespace telemetry::storage::sqlite
