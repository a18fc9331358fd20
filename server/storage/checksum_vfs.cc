#include "server/storage/checksum_vfs.h"

#include <sqlite3.h>

#include <cstring>
#include <list>
#include <new>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "server/storage/page_checksum.h"

namespace telemetry::storage {
namespace {

thread_local std::string last_damage;
// A thread's own variables lie on its stack, and some stacks are small.
thread_local std::vector<char> page_buffer;

char* PageBuffer(int size) {
  if (page_buffer.size() < static_cast<size_t>(size)) page_buffer.resize(size);
  return page_buffer.data();
}

// A database file. SQLite allocates the bytes; the base's file lies behind it.
struct ChecksumFile {
  sqlite3_file base;
  const char* path;  // SQLite's, which outlives the file
  PageLayout layout;

  static ChecksumFile& Of(sqlite3_file* file) { return *reinterpret_cast<ChecksumFile*>(file); }
  static sqlite3_file* Real(sqlite3_file* file) { return reinterpret_cast<sqlite3_file*>(&Of(file) + 1); }
};

sqlite3_file* Real(sqlite3_file* file) { return ChecksumFile::Real(file); }
const sqlite3_io_methods& Methods(sqlite3_file* file) { return *Real(file)->pMethods; }
int ReadReal(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  return Methods(file).xRead(Real(file), to, size, offset);
}

// Learns the layout where it is not known yet.
PageLayout& KnownLayout(sqlite3_file* file) {
  PageLayout& layout = ChecksumFile::Of(file).layout;
  char header[kDatabaseHeaderBytes];
  if (layout.page_bytes == 0 && ReadReal(file, header, sizeof header, 0) == SQLITE_OK) {
    layout = LayoutOf({header, sizeof header});
  }
  return layout;
}

int Damaged(sqlite3_file* file, uint32_t number, const char* what) {
  last_damage = absl::StrCat("page ", number, " of ", ChecksumFile::Of(file).path, " is damaged (", what, ")");
  sqlite3_log(SQLITE_IOERR_DATA, "%s", last_damage.c_str());
  return SQLITE_IOERR_DATA;
}

// A whole page.
int ReadPage(sqlite3_file* file, char* to, int size, sqlite3_int64 offset) {
  const int result = ReadReal(file, to, size, offset);
  if (result != SQLITE_OK && result != SQLITE_IOERR_SHORT_READ) return result;
  if (offset == 0) ChecksumFile::Of(file).layout = LayoutOf({to, static_cast<size_t>(size)});
  const PageLayout& layout = KnownLayout(file);
  if (!layout.checked || layout.page_bytes != size) return result;
  const auto number = static_cast<uint32_t>(offset / size + 1);
  // SQLite asks for pages that must be there.
  if (result == SQLITE_IOERR_SHORT_READ) return Damaged(file, number, "the file ends before it does");
  if (!IsSealed(number, {to, static_cast<size_t>(size)})) return Damaged(file, number, "its checksum does not fit it");
  return SQLITE_OK;
}

int Close(sqlite3_file* file) { return Methods(file).xClose(Real(file)); }

int Read(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  const int page_bytes = offset == 0 && size >= 512 ? size : KnownLayout(file).page_bytes;
  if (size == page_bytes && offset % size == 0) return ReadPage(file, static_cast<char*>(to), size, offset);
  // The header has to be read before anything can be known.
  const bool in_header = offset + size <= kDatabaseHeaderBytes;
  const bool in_one_page = page_bytes > 0 && offset / page_bytes == (offset + size - 1) / page_bytes;
  if (in_header || !in_one_page || !KnownLayout(file).checked) return ReadReal(file, to, size, offset);
  const sqlite3_int64 begin = offset - offset % page_bytes;
  char* const page = PageBuffer(page_bytes);
  const int result = ReadPage(file, page, page_bytes, begin);
  if (result == SQLITE_OK) std::memcpy(to, page + (offset - begin), size);
  return result;
}

int Write(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
  if (offset == 0 && size >= 512) {
    // The page's own trailer is still that of what it held before.
    ChecksumFile::Of(file).layout = LayoutOf({static_cast<const char*>(from), kDatabaseHeaderBytes});
  }
  const PageLayout& layout = KnownLayout(file);
  // Of a new database the first page may come last. It has room for checksums: Database asks for it, and so it is in
  // what VACUUM INTO makes.
  const bool is_new = layout.page_bytes == 0 && size >= 512;
  const bool seals = is_new || (layout.checked && size == layout.page_bytes);
  if (!seals || offset % size != 0) {
    return Methods(file).xWrite(Real(file), from, size, offset);
  }
  char* const page = PageBuffer(size);
  std::memcpy(page, from, size);
  SealPage(static_cast<uint32_t>(offset / size + 1), page, size);
  return Methods(file).xWrite(Real(file), page, size, offset);
}

int Truncate(sqlite3_file* file, sqlite3_int64 size) { return Methods(file).xTruncate(Real(file), size); }
int Sync(sqlite3_file* file, int flags) { return Methods(file).xSync(Real(file), flags); }
int FileSize(sqlite3_file* file, sqlite3_int64* size) { return Methods(file).xFileSize(Real(file), size); }
int Lock(sqlite3_file* file, int lock) { return Methods(file).xLock(Real(file), lock); }
int Unlock(sqlite3_file* file, int lock) { return Methods(file).xUnlock(Real(file), lock); }
int CheckReservedLock(sqlite3_file* file, int* reserved) {
  return Methods(file).xCheckReservedLock(Real(file), reserved);
}
int FileControl(sqlite3_file* file, int what, void* value) {
  return Methods(file).xFileControl(Real(file), what, value);
}
int SectorSize(sqlite3_file* file) { return Methods(file).xSectorSize(Real(file)); }
int DeviceCharacteristics(sqlite3_file* file) { return Methods(file).xDeviceCharacteristics(Real(file)); }
int ShmMap(sqlite3_file* file, int region, int size, int extend, void volatile** out) {
  return Methods(file).xShmMap(Real(file), region, size, extend, out);
}
int ShmLock(sqlite3_file* file, int offset, int count, int flags) {
  return Methods(file).xShmLock(Real(file), offset, count, flags);
}
void ShmBarrier(sqlite3_file* file) { Methods(file).xShmBarrier(Real(file)); }
int ShmUnmap(sqlite3_file* file, int remove) { return Methods(file).xShmUnmap(Real(file), remove); }

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
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0) return RealVfs(vfs)->xOpen(RealVfs(vfs), name, file, flags, out_flags);
  auto* opened = new (file) ChecksumFile{.base = {}, .path = name, .layout = {}};
  const int result = RealVfs(vfs)->xOpen(RealVfs(vfs), name, Real(file), flags, out_flags);
  // SQLite closes what has methods, also after an error.
  if (Real(file)->pMethods != nullptr) opened->base.pMethods = &kMethods;
  return result;
}
int Delete(sqlite3_vfs* vfs, const char* name, int sync_folder) {
  return RealVfs(vfs)->xDelete(RealVfs(vfs), name, sync_folder);
}
int Access(sqlite3_vfs* vfs, const char* name, int flags, int* yes) {
  return RealVfs(vfs)->xAccess(RealVfs(vfs), name, flags, yes);
}
int FullPathname(sqlite3_vfs* vfs, const char* name, int size, char* out) {
  return RealVfs(vfs)->xFullPathname(RealVfs(vfs), name, size, out);
}
int Randomness(sqlite3_vfs* vfs, int size, char* out) { return RealVfs(vfs)->xRandomness(RealVfs(vfs), size, out); }
int Sleep(sqlite3_vfs* vfs, int microseconds) { return RealVfs(vfs)->xSleep(RealVfs(vfs), microseconds); }
int CurrentTime(sqlite3_vfs* vfs, double* out) { return RealVfs(vfs)->xCurrentTime(RealVfs(vfs), out); }
int GetLastError(sqlite3_vfs* vfs, int size, char* out) { return RealVfs(vfs)->xGetLastError(RealVfs(vfs), size, out); }

struct Registered {
  std::string name;
  sqlite3_vfs vfs;
};

void Register(sqlite3_vfs* base, Registered* made) {
  made->vfs = {};
  made->vfs.iVersion = 1;
  made->vfs.szOsFile = base->szOsFile + static_cast<int>(sizeof(ChecksumFile));
  made->vfs.mxPathname = base->mxPathname;
  made->vfs.zName = made->name.c_str();
  made->vfs.pAppData = base;
  made->vfs.xOpen = &Open;
  made->vfs.xDelete = &Delete;
  made->vfs.xAccess = &Access;
  made->vfs.xFullPathname = &FullPathname;
  made->vfs.xRandomness = &Randomness;
  made->vfs.xSleep = &Sleep;
  made->vfs.xCurrentTime = &CurrentTime;
  made->vfs.xGetLastError = &GetLastError;
  sqlite3_vfs_register(&made->vfs, /*makeDflt=*/0);
}

}  // namespace

std::string ChecksumVfsOver(const std::string& base) {
  static absl::Mutex mutex(absl::kConstInit);
  static auto& all ABSL_GUARDED_BY(mutex) = *new std::list<Registered>();
  sqlite3_vfs* real = sqlite3_vfs_find(base.empty() ? nullptr : base.c_str());
  if (real == nullptr) return base;  // SQLite says that there is no such VFS
  const absl::MutexLock lock(&mutex);
  std::string name = absl::StrCat("telemetry-checksum-", real->zName);
  for (Registered& known : all) {
    if (known.name != name) continue;
    known.vfs.pAppData = real;  // another may have come under the name
    return name;
  }
  all.push_back({.name = name, .vfs = {}});
  Register(real, &all.back());
  return name;
}

const std::string& LastPageDamage() { return last_damage; }

}  // namespace telemetry::storage
