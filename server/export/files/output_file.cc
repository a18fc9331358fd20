#include "server/export/files/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace telemetry::exporter::files {

absl::StatusOr<std::unique_ptr<OutputFile>> OutputFile::Create(std::string path, Compression compression) {
  ASSIGN_OR_RETURN(std::unique_ptr<Compressor> compressor, Compressor::Create(compression));
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", path));
  return std::unique_ptr<OutputFile>(new OutputFile(std::move(path), fd, std::move(compressor)));
}

OutputFile::OutputFile(std::string path, int fd, std::unique_ptr<Compressor> compressor)
    : path_(std::move(path)), fd_(fd), compressor_(std::move(compressor)) {}

OutputFile::~OutputFile() { close(fd_); }

absl::Status OutputFile::Append(std::string_view text) {
  if (compressor_ == nullptr) return Write(text);
  compressed_.clear();
  RETURN_IF_ERROR(compressor_->Compress(text, &compressed_));
  return Write(compressed_);
}

absl::Status OutputFile::Finish() {
  if (compressor_ != nullptr) {
    compressed_.clear();
    RETURN_IF_ERROR(compressor_->Finish(&compressed_));
    RETURN_IF_ERROR(Write(compressed_));
  }
  if (fsync(fd_) != 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot fsync ", path_));
  ASSIGN_OR_RETURN(std::string hex, hash_.Hex());
  sha256_hex_ = std::move(hex);
  return absl::OkStatus();
}

absl::Status OutputFile::Write(std::string_view bytes) {
  hash_.Update(bytes);
  size_bytes_ += bytes.size();
  while (!bytes.empty()) {
    ssize_t written = write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path_));
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  StartWriteback();
  return absl::OkStatus();
}

// Starts the write-back now, so that the final fsync has little left to do. This is only a hint, and it may fail, for
// example on a pipe.
void OutputFile::StartWriteback() {
  constexpr uint64_t kStepBytes = 8 << 20;
  if (size_bytes_ - writeback_begin_ < kStepBytes) return;
  sync_file_range(fd_, static_cast<off64_t>(writeback_begin_), static_cast<off64_t>(size_bytes_ - writeback_begin_),
                  SYNC_FILE_RANGE_WRITE);
  writeback_begin_ = size_bytes_;
}

}  // namespace telemetry::exporter::files
