#include "worker/debug/npy_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "proto/record/strings.h"

namespace telemetry::worker::debug {
namespace {

using device::DType;
using record::Cat;

// The magic number and the version. The length of the rest of the header follows them.
constexpr char kMagic[] = "\x93NUMPY\x01";
constexpr size_t kAlignment = 64;

std::string_view Description(DType dtype) {
  switch (dtype) {
    case DType::kF32:
    case DType::kBF16:
      return "<f4";
    case DType::kF16:
      return "<f2";
    case DType::kI32:
      return "<i4";
    case DType::kBool:
      return "|b1";
    case DType::kI8:
      return "|i1";
    case DType::kI16:
      return "<i2";
    case DType::kI64:
      return "<i8";
    case DType::kU8:
      return "|u1";
    case DType::kU16:
      return "<u2";
    case DType::kU32:
      return "<u4";
    case DType::kU64:
      return "<u8";
  }
  return "|V1";
}

// Formats a tuple like Python: "()", "(3,)", "(3, 4)".
std::string TupleText(absl::Span<const int64_t> sizes) {
  std::string text = "(";
  for (size_t i = 0; i < sizes.size(); ++i) text += Cat(i > 0 ? " " : "", sizes[i], i + 1 < sizes.size() ? "," : "");
  return text + (sizes.size() == 1 ? ",)" : ")");
}

std::vector<std::byte> WidenedBF16(absl::Span<const std::byte> narrow) {
  std::vector<std::byte> wide(2 * narrow.size());
  for (size_t i = 0; i < narrow.size(); i += 2) std::memcpy(&wide[2 * i + 2], &narrow[i], 2);
  return wide;
}

}  // namespace

std::string NpyHeader(DType dtype, absl::Span<const int64_t> sizes) {
  std::string text =
      Cat("{'descr': '", Description(dtype), "', 'fortran_order': False, 'shape': ", TupleText(sizes), ", }");
  const size_t prefix = sizeof(kMagic) + 2;  // the terminating 0 of kMagic is the minor version
  const size_t length = prefix + text.size() + 1;
  text.append((kAlignment - length % kAlignment) % kAlignment, ' ');
  text += '\n';
  std::string header(kMagic, sizeof(kMagic));
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

std::vector<std::byte> NpyElements(DType dtype, std::vector<std::byte> dense) {
  if (dtype == DType::kBF16) return WidenedBF16(dense);
  if (dtype == DType::kBool) {
    for (std::byte& element : dense) element = std::byte{element != std::byte{0}};
  }
  return dense;
}

NewFile::~NewFile() {
  if (fd_ < 0) return;
  close(fd_);
  unlink(path_.c_str());
}

absl::Status NewFile::Error() const { return absl::ErrnoToStatus(errno, Cat("cannot write ", path_)); }

absl::Status NewFile::Create(const std::string& path) {
  path_ = path;
  fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  return fd_ >= 0 ? absl::OkStatus() : Error();
}

absl::Status NewFile::Write(absl::Span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Error();
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status NewFile::Close() {
  // A network file system may report a full disk only at this point.
  if (close(fd_) != 0) {
    absl::Status status = Error();
    fd_ = -1;
    unlink(path_.c_str());
    return status;
  }
  fd_ = -1;
  return absl::OkStatus();
}

}  // namespace telemetry::worker::debug
