#include "server/storage/sqlite/checksum_vfs.h"

#include <sqlite3.h>
#include <unistd.h>

#include <cstring>
#include <list>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "server/storage/sqlite/log_seals.h"
#include "server/storage/sqlite/log_writer.h"

namespace telemetry::storage::sqlite {
namespace {

thread_local std::string last_damage;
// Thread-local variables may be stored on the thread's stack, and some stacks are small. A vector keeps its bytes on
// the heap.
thread_local std::vector<char> page_buffer;

char* PageBuffer(int size) {
  if (page_buffer.size() < static_cast<size_t>(size)) page_buffer.resize(size);
  return page_buffer.data();
}

constexpr std::string_view kLogSuffix = "-wal";
constexpr char kCut[] = "the file ends before the page";
constexpr char kWrongChecksum[] = "its checksum does not match";

// A database file or its write-ahead log. SQLite allocates the memory; the base VFS's file follows this object.
struct ChecksumFile {
  sqlite3_file base;
  const char* path;   // owned by SQLite, which keeps it longer than the file
  PageLayout layout;  // this member and the next three are used for a database file only
  Admission admission = {};
  LogSeals::Pages logged = {};
  bool knows_logged = false;
  std::unique_ptr<LogWriter> log = nullptr;  // used for a log only

  static ChecksumFile& Of(sqlite3_file* file) { return *reinterpret_cast<ChecksumFile*>(file); }
  static sqlite3_file* Real(sqlite3_file* file) { return reinterpret_cast<sqlite3_file*>(&Of(file) + 1); }
};

sqlite3_file* Real(sqlite3_file* file) { return ChecksumFile::Real(file); }
const sqlite3_io_methods& Methods(sqlite3_file* file) { return *Real(file)->pMethods; }
int ReadReal(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  return Methods(file).xRead(Real(file), to, size, offset);
}

// Returns the layout. Reads it from the file if it is not known yet.
PageLayout& KnownLayout(sqlite3_file* file) {
  PageLayout& layout = ChecksumFile::Of(file).layout;
  char header[kDatabaseHeaderBytes];
  if (layout.page_bytes == 0 && ReadReal(file, header, sizeof header, 0) == SQLITE_OK) {
    layout = ParsePageLayout({header, sizeof header});
  }
  return layout;
}

// Returns the state of a page that is not sealed.
PageState StateIn(ChecksumFile& file, uint32_t number, std::string_view page) {
  // Reads the seals again unless foreign pages are admitted: the log may have grown, and a page without a recorded seal
  // would be refused.
  if (!file.knows_logged || !file.admission.foreign) file.logged = LogSeals::Read(file.path);
  file.knows_logged = true;
  const auto logged = file.logged.find(number);
  return ComputePageState(number, page, logged == file.logged.end() ? absl::Span<const uint32_t>() : logged->second);
}

bool IsAdmitted(ChecksumFile& file, uint32_t number, std::string_view page) {
  if (IsSealed(number, page) || file.admission.damaged) return true;
  const PageState state = StateIn(file, number, page);
  return state == PageState::kSealed || state == PageState::kLogged ||
         (state == PageState::kForeign && file.admission.foreign);
}

int Damaged(sqlite3_file* file, uint32_t number, const char* what) {
  last_damage = absl::StrCat("page ", number, " of ", ChecksumFile::Of(file).path, " is damaged (", what, ")");
  sqlite3_log(SQLITE_IOERR_DATA, "%s", last_damage.c_str());
  return SQLITE_IOERR_DATA;
}

// Reads a complete page.
int ReadPage(sqlite3_file* file, char* to, int size, sqlite3_int64 offset) {
  const int result = ReadReal(file, to, size, offset);
  if (result != SQLITE_OK && result != SQLITE_IOERR_SHORT_READ) return result;
  if (offset == 0) ChecksumFile::Of(file).layout = ParsePageLayout({to, static_cast<size_t>(size)});
  const PageLayout& layout = KnownLayout(file);
  if (!layout.checked || layout.page_bytes != size) return result;
  const auto number = static_cast<uint32_t>(offset / size + 1);
  // SQLite only reads pages that must exist.
  if (result == SQLITE_IOERR_SHORT_READ) return Damaged(file, number, kCut);
  if (!IsAdmitted(ChecksumFile::Of(file), number, {to, static_cast<size_t>(size)})) {
    return Damaged(file, number, kWrongChecksum);
  }
  if (number == 1) ShowSize(to);
  return SQLITE_OK;
}

int ReadHeader(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  char header[kDatabaseHeaderBytes];
  const int result = ReadReal(file, header, sizeof header, 0);
  // If the file ends inside its header, SQLite must see this end.
  if (result != SQLITE_OK) return ReadReal(file, to, size, offset);
  if (ParsePageLayout({header, sizeof header}).checked) ShowSize(header);
  std::memcpy(to, header + offset, size);
  return SQLITE_OK;
}

int Close(sqlite3_file* file) {
  const int result = Methods(file).xClose(Real(file));
  ChecksumFile::Of(file).~ChecksumFile();
  return result;
}

int Read(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  const int page_bytes = offset == 0 && size >= kLeastPageBytes ? size : KnownLayout(file).page_bytes;
  if (size == page_bytes && offset % size == 0) return ReadPage(file, static_cast<char*>(to), size, offset);
  // SQLite reads the header before the layout can be known.
  const bool in_header = offset + size <= kDatabaseHeaderBytes;
  const bool in_one_page = page_bytes > 0 && offset / page_bytes == (offset + size - 1) / page_bytes;
  if (in_header) return ReadHeader(file, to, size, offset);
  if (!in_one_page || !KnownLayout(file).checked) return ReadReal(file, to, size, offset);
  const sqlite3_int64 begin = offset - offset % page_bytes;
  char* const page = PageBuffer(page_bytes);
  const int result = ReadPage(file, page, page_bytes, begin);
  if (result == SQLITE_OK) std::memcpy(to, page + (offset - begin), size);
  return result;
}

int Write(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
  if (offset == 0 && size >= kLeastPageBytes) {
    // The page's trailer is still the one of its previous content.
    ChecksumFile::Of(file).layout = ParsePageLayout({static_cast<const char*>(from), kDatabaseHeaderBytes});
  }
  const PageLayout& layout = KnownLayout(file);
  // The first page of a new database may be written last. A new database has room for checksums, because
  // SqliteDatabase::Open() reserves it, also in the databases that VACUUM INTO creates.
  const bool is_new = layout.page_bytes == 0 && size >= kLeastPageBytes;
  const bool seals = is_new || (layout.checked && size == layout.page_bytes);
  if (!seals || offset % size != 0) {
    return Methods(file).xWrite(Real(file), from, size, offset);
  }
  char* const page = PageBuffer(size);
  std::memcpy(page, from, size);
  if (offset == 0) HideSize(page);
  SealPage(static_cast<uint32_t>(offset / size + 1), page, size);
  return Methods(file).xWrite(Real(file), page, size, offset);
}

LogWriter& LogOf(sqlite3_file* file) { return *ChecksumFile::Of(file).log; }

int ReadLog(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  const int result = LogOf(file).Flush();
  return result == SQLITE_OK ? ReadReal(file, to, size, offset) : result;
}
int WriteLog(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
  return LogOf(file).Write(static_cast<const char*>(from), size, offset);
}
int TruncateLog(sqlite3_file* file, sqlite3_int64 size) { return LogOf(file).Truncate(size); }
int SyncLog(sqlite3_file* file, int flags) {
  const int result = LogOf(file).Flush();
  return result == SQLITE_OK ? Methods(file).xSync(Real(file), flags) : result;
}
int LogSize(sqlite3_file* file, sqlite3_int64* size) {
  const int result = LogOf(file).Flush();
  return result == SQLITE_OK ? Methods(file).xFileSize(Real(file), size) : result;
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

constexpr sqlite3_io_methods LogMethods() {
  sqlite3_io_methods methods = kMethods;
  methods.xRead = &ReadLog;
  methods.xWrite = &WriteLog;
  methods.xTruncate = &TruncateLog;
  methods.xSync = &SyncLog;
  methods.xFileSize = &LogSize;
  return methods;
}
constexpr sqlite3_io_methods kLogMethods = LogMethods();

// Returns the path of the database to which a log belongs.
std::string DatabasePath(std::string_view log) {
  return std::string(log.substr(0, log.size() - (log.ends_with(kLogSuffix) ? kLogSuffix.size() : 0)));
}

sqlite3_vfs* RealVfs(sqlite3_vfs* vfs) { return static_cast<sqlite3_vfs*>(vfs->pAppData); }

int Open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  const bool is_log = (flags & SQLITE_OPEN_WAL) != 0;
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0 && !is_log) {
    return RealVfs(vfs)->xOpen(RealVfs(vfs), name, file, flags, out_flags);
  }
  auto* opened = new (file) ChecksumFile{.base = {}, .path = name, .layout = {}};
  if (is_log) opened->log = std::make_unique<LogWriter>(Real(file), DatabasePath(name));
  const int result = RealVfs(vfs)->xOpen(RealVfs(vfs), name, Real(file), flags, out_flags);
  // SQLite closes a file that has methods, also after an error.
  if (Real(file)->pMethods != nullptr) {
    opened->base.pMethods = is_log ? &kLogMethods : &kMethods;
  } else {
    opened->~ChecksumFile();
  }
  return result;
}
int Delete(sqlite3_vfs* vfs, const char* name, int sync_folder) {
  if (std::string_view(name).ends_with(kLogSuffix)) unlink(LogSeals::SealsPath(DatabasePath(name)).c_str());
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
  if (real == nullptr) return base;  // SQLite will report that the VFS does not exist
  const absl::MutexLock lock(&mutex);
  std::string name = absl::StrCat("telemetry-checksum-", real->zName);
  for (Registered& known : all) {
    if (known.name != name) continue;
    known.vfs.pAppData = real;  // another VFS may have been registered under this name
    return name;
  }
  all.push_back({.name = name, .vfs = {}});
  Register(real, &all.back());
  return name;
}

Admission& MutableAdmission(sqlite3_file* file) { return ChecksumFile::Of(file).admission; }

int ReadPageAsItLies(sqlite3_file* file, uint32_t number, char* page, int bytes, PageState* state) {
  const int result = ReadReal(file, page, bytes, sqlite3_int64{number - 1} * bytes);
  if (result == SQLITE_IOERR_SHORT_READ) return Damaged(file, number, kCut);
  if (result != SQLITE_OK) return result;
  const std::string_view whole(page, bytes);
  const bool sealed = !KnownLayout(file).checked || IsSealed(number, whole);
  *state = sealed ? PageState::kSealed : StateIn(ChecksumFile::Of(file), number, whole);
  return SQLITE_OK;
}

void NameDamage(sqlite3_file* file, uint32_t number) { Damaged(file, number, kWrongChecksum); }

const std::string& LastPageDamage() { return last_damage; }

}  // namespace telemetry::storage::sqlite
