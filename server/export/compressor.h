#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace telemetry::exporter {

enum class Compression { kNone, kGzip, kZstd };

// INVALID_ARGUMENT: not one of "none", "gzip", "zstd".
absl::StatusOr<Compression> ParseCompression(std::string_view name);
std::string_view CompressionName(Compression compression);
// What a compressed file's name ends in: "", ".gz", ".zst".
std::string_view CompressionSuffix(Compression compression);

// Compresses one stream. Levels are fixed and no time or name is put into the stream, so that the same text gives the
// same bytes with the same library. Not thread-safe.
class Compressor {
 public:
  // Null for kNone: there the text itself is the stream. RESOURCE_EXHAUSTED: no memory for the library's state.
  static absl::StatusOr<std::unique_ptr<Compressor>> Create(Compression compression);

  virtual ~Compressor() = default;

  // Appends to `out` what is ready of the compressed `text`. INTERNAL: the library failed.
  virtual absl::Status Compress(std::string_view text, std::string* out) = 0;
  // Appends what is left and the end of the stream. Called once, last.
  virtual absl::Status Finish(std::string* out) = 0;
};

}  // namespace telemetry::exporter
