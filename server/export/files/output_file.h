#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/record/stream_hash.h"
#include "server/export/files/compressor.h"

namespace telemetry::exporter::files {

// A file under its temporary name. It compresses, hashes and writes the appended text. The destructor closes the file
// and leaves it in place; the owner of the name renames or removes it. Not thread-safe.
class OutputFile {
 public:
  // Creates the file, or truncates a file that an interrupted export left. Does not follow symbolic links. Errors name
  // the path: NOT_FOUND if the folder does not exist, PERMISSION_DENIED, RESOURCE_EXHAUSTED if the disk is full, and
  // others.
  static absl::StatusOr<std::unique_ptr<OutputFile>> Create(std::string path, Compression compression);

  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Returns RESOURCE_EXHAUSTED if the disk is full, or INTERNAL and other codes if it fails.
  absl::Status Append(std::string_view text);

  // Ends the stream and calls fsync. Must be called once, last. Errors as for Append().
  absl::Status Finish();

  // Size and hash of the bytes on disk. Valid after Finish().
  uint64_t size_bytes() const { return size_bytes_; }
  const std::string& sha256_hex() const { return sha256_hex_; }
  const std::string& path() const { return path_; }

 private:
  OutputFile(std::string path, int fd, std::unique_ptr<Compressor> compressor);
  absl::Status Write(std::string_view bytes);
  void StartWriteback();

  const std::string path_;
  const int fd_;
  const std::unique_ptr<Compressor> compressor_;
  record::StreamHash hash_;
  std::string compressed_;
  uint64_t size_bytes_ = 0;
  uint64_t writeback_begin_ = 0;
  std::string sha256_hex_;
};

}  // namespace telemetry::exporter::files
