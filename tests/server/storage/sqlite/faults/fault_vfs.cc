#include "tests/server/storage/sqlite/faults/fault_vfs.h"

#include <sqlite3.h>

#include <new>

#include "tests/server/storage/sqlite/faults/fault_points.h"

namespace telemetry::storage::sqlite {
namespace {

using Kind = FaultPoints::Kind;

// An open file. The real file follows this object in memory.
struct FaultFile {
  sqlite3_file base;

  static sqlite3_file* Real(sqlite3_file* file) { return reinterpret_cast<sqlite3_file*>(&Of(file) + 1); }
  static FaultFile& Of(sqlite3_file* file) { return *reinterpret_cast<FaultFile*>(file); }
};

const sqlite3_io_methods& Real(sqlite3_file* file) { return *FaultFile::Real(file)->pMethods; }

int Close(sqlite3_file* file) { return Real(file).xClose(FaultFile::Real(file)); }
int Read(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  const int fault = FaultPoints::Pass(Kind::kDiskRead);
  return fault != 0 ? fault : Real(file).xRead(FaultFile::Real(file), to, size, offset);
}
int Write(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
  const int fault = FaultPoints::Pass(Kind::kDisk);
  return fault != 0 ? fault : Real(file).xWrite(FaultFile::Real(file), from, size, offset);
}
int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  const int fault = FaultPoints::Pass(Kind::kDisk);
  return fault != 0 ? fault : Real(file).xTruncate(FaultFile::Real(file), size);
}
int Sync(sqlite3_file* file, int flags) {
  const int fault = FaultPoints::Pass(Kind::kDisk);
  return fault != 0 ? fault : Real(file).xSync(FaultFile::Real(file), flags);
}
int FileSize(sqlite3_file* file, sqlite3_int64* size) { return Real(file).xFileSize(FaultFile::Real(file), size); }
int Lock(sqlite3_file* file, int lock) { return Real(file).xLock(FaultFile::Real(file), lock); }
int Unlock(sqlite3_file* file, int lock) { return Real(file).xUnlock(FaultFile::Real(file), lock); }
int CheckReservedLock(sqlite3_file* file, int* reserved) {
  return Real(file).xCheckReservedLock(FaultFile::Real(file), reserved);
}
int FileControl(sqlite3_file* file, int what, void* value) {
  return Real(file).xFileControl(FaultFile::Real(file), what, value);
}
int SectorSize(sqlite3_file* file) { return Real(file).xSectorSize(FaultFile::Real(file)); }
int DeviceCharacteristics(sqlite3_file* file) { return Real(file).xDeviceCharacteristics(FaultFile::Real(file)); }
int ShmMap(sqlite3_file* file, int region, int size, int extend, void volatile** out) {
  return Real(file).xShmMap(FaultFile::Real(file), region, size, extend, out);
}
int ShmLock(sqlite3_file* file, int offset, int count, int flags) {
  return Real(file).xShmLock(FaultFile::Real(file), offset, count, flags);
}
void ShmBarrier(sqlite3_file* file) { Real(file).xShmBarrier(FaultFile::Real(file)); }
int ShmUnmap(sqlite3_file* file, int remove) { return Real(file).xShmUnmap(FaultFile::Real(file), remove); }

constexpr sqlite3_io_methods kMethods = {
    .iVersion = 2,
    .xClose = &Close,
    .xRead = &Read,
    .xWrite = &Write,
    .xTruncate = &Truncate,
    .xSync = &Sync,
    .xFileSize = &FileSize,
    .xLock = &Lock,
    .xUnlock = &Unlock,
    .xCheckReservedLock = &CheckReservedLock,
    .xFileControl = &FileControl,
    .xSectorSize = &SectorSize,
    .xDeviceCharacteristics = &DeviceCharacteristics,
    .xShmMap = &ShmMap,
    .xShmLock = &ShmLock,
    .xShmBarrier = &ShmBarrier,
    .xShmUnmap = &ShmUnmap,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

sqlite3_vfs* RealVfs(sqlite3_vfs* vfs) { return static_cast<sqlite3_vfs*>(vfs->pAppData); }

int Open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  auto* opened = new (file) FaultFile{.base = {}};
  const int result = RealVfs(vfs)->xOpen(RealVfs(vfs), name, FaultFile::Real(file), flags, out_flags);
  // SQLite closes a file that has methods, also after an error.
  if (FaultFile::Real(file)->pMethods != nullptr) opened->base.pMethods = &kMethods;
  return result;
}
int Delete(sqlite3_vfs* vfs, const char* name, int sync_folder) {
  const int fault = FaultPoints::Pass(Kind::kDisk);
  return fault != 0 ? fault : RealVfs(vfs)->xDelete(RealVfs(vfs), name, sync_folder);
}
int Access(sqlite3_vfs* vfs, const char* name, int flags, int* yes) {
  return RealVfs(vfs)->xAccess(RealVfs(vfs), name, flags, yes);
}
int FullPathname(sqlite3_vfs* vfs, const char* name, int size, char* out) {
  return RealVfs(vfs)->xFullPathname(RealVfs(vfs), name, size, out);
}

}  // namespace

void RegisterFaultVfs(const char* name) {
  static sqlite3_vfs vfs = *sqlite3_vfs_find(nullptr);
  vfs.pAppData = sqlite3_vfs_find(nullptr);
  vfs.pNext = nullptr;
  vfs.iVersion = 1;
  vfs.szOsFile += static_cast<int>(sizeof(FaultFile));
  vfs.zName = name;
  vfs.xOpen = &Open;
  vfs.xDelete = &Delete;
  vfs.xAccess = &Access;
  vfs.xFullPathname = &FullPathname;
  sqlite3_vfs_register(&vfs, /*makeDflt=*/0);
}

}  // namespace telemetry::storage::sqlite
