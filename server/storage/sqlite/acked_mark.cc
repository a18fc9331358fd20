#include "server/storage/sqlite/acked_mark.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"

namespace telemetry::storage::sqlite {
namespace {

// The line's format: acked 00000000000000001234 records of 3f..., log 0123456789abcdef frames 0000000012, crc 01234567
constexpr int kRecordsAt = 6;
constexpr int kRecordsDigits = 20;
constexpr int kIdAt = kRecordsAt + kRecordsDigits + 12;
constexpr int kIdDigits = 32;
constexpr int kSaltsAt = kIdAt + kIdDigits + 6;
constexpr int kSaltsDigits = 16;
constexpr int kFramesAt = kSaltsAt + kSaltsDigits + 8;
constexpr int kFramesDigits = 10;
constexpr int kCrcAt = kFramesAt + kFramesDigits + 6;
constexpr int kCrcDigits = 8;
constexpr int kLineBytes = kCrcAt + kCrcDigits + 1;

std::string Encode(const AckedMark& mark) {
  std::string line = absl::StrFormat("acked %020d records of %s, log %016x frames %010d, crc ", mark.records,
                                     record::HexEncode(mark.dataset_id), mark.log_salts, mark.log_frames);
  absl::StrAppendFormat(&line, "%08x\n", record::Crc32c(0, line));
  return line;
}

// A writer that was preempted in the middle of a line has continued after this many reads.
constexpr int kReads = 25;
constexpr absl::Duration kBetweenReads = absl::Milliseconds(10);

template <typename Number>
Number NumberAt(const std::string& line, int at, int digits, int base) {
  Number number = 0;
  std::from_chars(line.data() + at, line.data() + at + digits, number, base);
  return number;
}

// Returns the file's first line, or less if the file ends before it does.
absl::StatusOr<std::string> ReadLine(int fd, const std::string& path) {
  std::string line(kLineBytes + 1, '\0');
  const ssize_t read = pread(fd, line.data(), line.size(), 0);
  if (read < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
  line.resize(static_cast<size_t>(read));
  return line;
}

// Returns nullopt if the line is damaged, or is only half overwritten by a newer one.
std::optional<AckedMark> Decode(const std::string& line) {
  if (line.size() != kLineBytes) return std::nullopt;
  AckedMark mark;
  mark.records = NumberAt<uint64_t>(line, kRecordsAt, kRecordsDigits, 10);
  mark.dataset_id = record::HexDecode(line.substr(kIdAt, kIdDigits)).value_or("");
  mark.log_salts = NumberAt<uint64_t>(line, kSaltsAt, kSaltsDigits, 16);
  mark.log_frames = NumberAt<uint32_t>(line, kFramesAt, kFramesDigits, 10);
  return Encode(mark) == line ? std::optional(std::move(mark)) : std::nullopt;
}

}  // namespace

absl::StatusOr<AckedMarkFile> AckedMarkFile::Open(const std::string& database) {
  const int fd = open(MarkPath(database).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", MarkPath(database)));
  return AckedMarkFile(fd);
}

absl::StatusOr<std::optional<AckedMark>> AckedMarkFile::Read(const std::string& database) {
  const std::string path = MarkPath(database);
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return std::nullopt;
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  const absl::Cleanup close_file = [fd] { close(fd); };
  for (int reads = 1; reads <= kReads; ++reads) {
    ASSIGN_OR_RETURN(const std::string line, ReadLine(fd, path));
    // A power cut soon after the file was created leaves zeros.
    if (line.find_first_not_of('\0') == std::string::npos) return std::nullopt;
    if (std::optional<AckedMark> mark = Decode(line)) return mark;
    if (reads < kReads) absl::SleepFor(kBetweenReads);
  }
  return absl::DataLossError(
      absl::StrCat(path,
                   ", which records how much was acknowledged, is damaged: run "
                   "telemetry-collector check, and move the file away if it finds no other damage"));
}

AckedMarkFile::AckedMarkFile(AckedMarkFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

AckedMarkFile& AckedMarkFile::operator=(AckedMarkFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

AckedMarkFile::~AckedMarkFile() {
  if (fd_ >= 0) close(fd_);
}

absl::Status AckedMarkFile::Store(const AckedMark& mark) {
  const std::string line = Encode(mark);
  const ssize_t written = pwrite(fd_, line.data(), line.size(), 0);
  if (written == static_cast<ssize_t>(line.size())) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot store the number of acknowledged records: ",
                                             absl::ErrnoToStatus(written < 0 ? errno : ENOSPC, "").ToString()));
}

}  // namespace telemetry::storage::sqlite
