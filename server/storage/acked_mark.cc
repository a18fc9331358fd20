#include "server/storage/acked_mark.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/record/ids.h"

namespace telemetry::storage {
namespace {

// acked 00000000000000001234 records of 3f..., log 0123456789abcdef frames 0000000012, crc 01234567
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

template <typename Number>
Number NumberAt(const std::string& line, int at, int digits, int base) {
  Number number = 0;
  std::from_chars(line.data() + at, line.data() + at + digits, number, base);
  return number;
}

}  // namespace

absl::StatusOr<AckedMarkFile> AckedMarkFile::Open(const std::string& database) {
  const int fd = open(PathOf(database).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", PathOf(database)));
  return AckedMarkFile(fd);
}

absl::StatusOr<std::optional<AckedMark>> AckedMarkFile::Read(const std::string& database) {
  const int fd = open(PathOf(database).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return std::nullopt;
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", PathOf(database)));
  std::string line(kLineBytes + 1, '\0');
  const ssize_t read = pread(fd, line.data(), line.size(), 0);
  close(fd);
  // As a file looks that was new when the power was cut.
  if (read == 0 || line.find_first_not_of('\0') == std::string::npos) return std::nullopt;
  line.resize(std::max<ssize_t>(read, 0));
  AckedMark mark;
  if (line.size() == kLineBytes) {
    mark.records = NumberAt<uint64_t>(line, kRecordsAt, kRecordsDigits, 10);
    mark.dataset_id = record::HexDecode(line.substr(kIdAt, kIdDigits)).value_or("");
    mark.log_salts = NumberAt<uint64_t>(line, kSaltsAt, kSaltsDigits, 16);
    mark.log_frames = NumberAt<uint32_t>(line, kFramesAt, kFramesDigits, 10);
    if (Encode(mark) == line) return mark;
  }
  return absl::DataLossError(absl::StrCat(PathOf(database),
                                          ", which says how much was acknowledged, is damaged: run "
                                          "telemetry-collector check, and move the file away when nothing else is"));
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
  return absl::UnavailableError(absl::StrCat("cannot write down what is acknowledged: ",
                                             absl::ErrnoToStatus(written < 0 ? errno : ENOSPC, "").ToString()));
}

}  // namespace telemetry::storage
