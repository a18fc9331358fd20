#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/export/compressor.h"
#include "server/export/stream_hash.h"

namespace telemetry::exporter {

// A file under its temporary name: compresses, hashes and writes what is appended. The destructor closes it and leaves
// it in place; whoever named it renames or removes it. Not thread-safe.
class OutputFile {
 public:
  // Makes the file, or empties one that an interrupted export left. Follows no symbolic link. The error names the path:
  // NOT_FOUND (no such folder), PERMISSION_DENIED, RESOURCE_EXHAUSTED (disk full), ...
  static absl::StatusOr<std::unique_ptr<OutputFile>> Create(std::string path, Compression compression);

  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // RESOURCE_EXHAUSTED: the disk is full. INTERNAL and others: it fails.
  absl::Status Append(std::string_view text);

  // Ends the stream and forces it to disk; called once, last. Errors as Append.
  absl::Status Finish();

  // Of the bytes on disk. Valid after Finish.
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
  StreamHash hash_;
  std::string compressed_;
  uint64_t size_bytes_ = 0;
  uint64_t writeback_begin_ = 0;
  std::string sha256_hex_;
};

}  // namespace telemetry::exporter
