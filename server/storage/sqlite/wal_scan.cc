#include "server/storage/sqlite/wal_scan.h"

#include <sqlite3.h>

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/storage/sqlite/page_checksum.h"

namespace telemetry::storage::sqlite {
namespace {

constexpr uint64_t kHeaderBytes = 32;
constexpr int kSaltsAt = 16;
constexpr uint64_t kFrameHeaderBytes = 24;
constexpr uint32_t kMagic = 0x377f0682;  // bit 0 set: the checksums use big-endian words

uint32_t BigEndian(const char* from) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(from[i]);
  return value;
}
uint64_t BigEndian64(const char* from) { return uint64_t{BigEndian(from)} << 32 | BigEndian(from + 4); }
uint32_t LittleEndian(const char* from) { return __builtin_bswap32(BigEndian(from)); }

// SQLite's cumulative checksum over pairs of 32-bit words.
struct Checksum {
  uint32_t first = 0;
  uint32_t second = 0;

  void Add(const char* bytes, uint64_t size, bool big_endian) {
    for (uint64_t at = 0; at < size; at += 8) {
      first += (big_endian ? BigEndian(bytes + at) : LittleEndian(bytes + at)) + second;
      second += (big_endian ? BigEndian(bytes + at + 4) : LittleEndian(bytes + at + 4)) + first;
    }
  }
  bool operator==(const Checksum&) const = default;
};

Checksum StoredAt(const char* at) { return {.first = BigEndian(at), .second = BigEndian(at + 4)}; }

class Scanner {
 public:
  Scanner(sqlite3_file* log, uint64_t page_bytes) : log_(*log), frame_(kFrameHeaderBytes + page_bytes) {}

  absl::StatusOr<WalScan> Run() {
    sqlite3_int64 size = 0;
    if (const int code = log_.pMethods->xFileSize(&log_, &size); code != SQLITE_OK) return SqliteStatus(code);
    scan_.bytes = static_cast<uint64_t>(size);
    if (scan_.bytes == 0) return scan_;
    RETURN_IF_ERROR(TakeHeader());
    for (uint32_t frame = 1; FrameOffset(frame + 1) <= scan_.bytes; ++frame) {
      RETURN_IF_ERROR(Read(frame_.data(), frame_.size(), FrameOffset(frame)));
      TakeFrame(frame);
    }
    if (whole_) MarkBad(static_cast<uint32_t>((scan_.bytes - std::min(scan_.bytes, kHeaderBytes)) / frame_.size() + 1));
    return scan_;
  }

 private:
  uint64_t FrameOffset(uint32_t frame) const { return kHeaderBytes + uint64_t{frame - 1} * frame_.size(); }

  absl::Status Read(char* to, uint64_t size, uint64_t offset) {
    const int code = log_.pMethods->xRead(&log_, to, static_cast<int>(size), static_cast<sqlite3_int64>(offset));
    return code == SQLITE_OK || code == SQLITE_IOERR_SHORT_READ ? absl::OkStatus() : SqliteStatus(code);
  }

  absl::Status TakeHeader() {
    char header[kHeaderBytes];
    RETURN_IF_ERROR(Read(header, sizeof header, 0));
    big_endian_ = BigEndian(header) == (kMagic | 1);
    Checksum sum;
    sum.Add(header, kHeaderBytes - 8, big_endian_);
    before_ = StoredAt(header + 24);
    scan_.header_ok = (BigEndian(header) & ~1U) == kMagic && sum == before_;
    scan_.salts = BigEndian64(header + kSaltsAt);
    whole_ = scan_.header_ok;
    if (whole_) return absl::OkStatus();
    // The first frame also contains the salts of its log.
    MarkBad(0);
    RETURN_IF_ERROR(Read(header, kFrameHeaderBytes, kHeaderBytes));
    scan_.salts = BigEndian64(header + 8);
    return absl::OkStatus();
  }

  void TakeFrame(uint32_t number) {
    const char* const frame = frame_.data();
    const bool of_this_log = BigEndian64(frame + 8) == scan_.salts && BigEndian(frame) != 0;
    Checksum sum = before_;
    sum.Add(frame, 8, big_endian_);
    sum.Add(frame + kFrameHeaderBytes, frame_.size() - kFrameHeaderBytes, big_endian_);
    before_ = StoredAt(frame + 16);
    const bool follows = of_this_log && sum == before_;
    // SQLite repeats a commit's last frame to fill a sector. The repetitions may be written before the commit is
    // complete, and may be missing.
    const uint64_t page_and_size = BigEndian64(frame);
    const bool repeats = commit_before_ && page_and_size == page_and_size_before_;
    if (follows && commit_before_ && !repeats) scan_.durable = commit_;
    page_and_size_before_ = page_and_size;
    commit_before_ = of_this_log && BigEndian(frame + 4) != 0;
    if (commit_before_ && !repeats) commit_ = number;
    if (!follows && whole_) MarkBad(number);
    if (!whole_) return;
    transaction_.push_back(BigEndian(frame));
    if (!commit_before_) return;
    scan_.committed = number;
    scan_.pages.insert(transaction_.begin(), transaction_.end());
    transaction_.clear();
  }

  void MarkBad(uint32_t frame) {
    whole_ = false;
    scan_.first_bad = frame;
    scan_.first_bad_at = frame == 0 ? 0 : FrameOffset(frame);
  }

  sqlite3_file& log_;
  std::vector<char> frame_;
  std::vector<uint32_t> transaction_;  // pages of the transaction that is being read
  WalScan scan_;
  Checksum before_;  // the checksum stored in the previous frame, or in the header
  uint64_t page_and_size_before_ = 0;
  uint32_t commit_ = 0;  // the last frame that ends a transaction, without its repetitions
  bool big_endian_ = false;
  bool whole_ = false;          // no bad frame so far
  bool commit_before_ = false;  // the previous frame ends a transaction
};

// nullptr: no log is open.
absl::StatusOr<sqlite3_file*> WalFile(SqliteDatabase& database) {
  sqlite3_file* log = nullptr;
  const int code =
      sqlite3_file_control(database.handle(), "main", SQLITE_FCNTL_JOURNAL_POINTER, static_cast<void*>(&log));
  if (code != SQLITE_OK) return SqliteStatus(code);
  return log != nullptr && log->pMethods != nullptr ? log : nullptr;
}

}  // namespace

absl::StatusOr<uint64_t> ReadWalSalts(SqliteDatabase& database) {
  const absl::StatusOr<sqlite3_file*> log = WalFile(database);
  if (!log.ok() || *log == nullptr) return log.ok() ? absl::StatusOr<uint64_t>(0) : log.status();
  char salts[8] = {};
  const int code = (*log)->pMethods->xRead(*log, salts, sizeof salts, kSaltsAt);
  if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) return SqliteStatus(code);
  return BigEndian64(salts);
}

absl::StatusOr<uint32_t> PaddingFrames(SqliteDatabase& database) {
  ASSIGN_OR_RETURN(const int64_t page_bytes, database.QueryInt("PRAGMA page_size"));
  sqlite3_file* file = nullptr;
  const int code =
      sqlite3_file_control(database.handle(), "main", SQLITE_FCNTL_FILE_POINTER, static_cast<void*>(&file));
  if (code != SQLITE_OK) return SqliteStatus(code);
  if ((file->pMethods->xDeviceCharacteristics(file) & SQLITE_IOCAP_POWERSAFE_OVERWRITE) != 0) return 0;
  const uint64_t frame_bytes = kFrameHeaderBytes + static_cast<uint64_t>(page_bytes);
  return static_cast<uint32_t>((file->pMethods->xSectorSize(file) + frame_bytes - 1) / frame_bytes);
}

absl::StatusOr<WalScan> ScanWal(SqliteDatabase& database) {
  ASSIGN_OR_RETURN(const int64_t page_bytes, database.QueryInt("PRAGMA page_size"));
  ASSIGN_OR_RETURN(sqlite3_file* const log, WalFile(database));
  if (log == nullptr) return WalScan{};
  return Scanner(log, static_cast<uint64_t>(page_bytes)).Run();
}

std::optional<std::string> DescribeDamage(const WalScan& scan) {
  if (scan.durable <= scan.committed) return std::nullopt;
  const std::string where =
      scan.first_bad == 0 ? "its header" : absl::StrCat("frame ", scan.first_bad, ", byte ", scan.first_bad_at);
  return absl::StrCat("the write-ahead log (-wal) is damaged at ", where, ": of ", scan.durable,
                      " frames that were committed only the first ", scan.committed, " can be read");
}

}  // namespace telemetry::storage::sqlite
