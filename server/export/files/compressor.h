#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace telemetry::exporter::files {

// The compression of an export's files.
enum class Compression { kNone, kGzip, kZstd };

// Returns INVALID_ARGUMENT unless `name` is "none", "gzip" or "zstd".
absl::StatusOr<Compression> ParseCompression(std::string_view name);
std::string_view CompressionName(Compression compression);
// Returns the suffix of a compressed file's name: "", ".gz" or ".zst".
std::string_view CompressionSuffix(Compression compression);

// A compressor of one stream. Levels are fixed and the stream contains no time or name, so that equal texts yield equal
// bytes with the same library. Not thread-safe.
class Compressor {
 public:
  // Returns null for kNone, because the text itself is the stream. Returns RESOURCE_EXHAUSTED if there is no memory for
  // the library's state.
  static absl::StatusOr<std::unique_ptr<Compressor>> Create(Compression compression);

  virtual ~Compressor() = default;

  // Compresses `text` and appends the finished output to `out`. Returns INTERNAL if the library fails.
  virtual absl::Status Compress(std::string_view text, std::string* out) = 0;
  // Appends the remaining output and the end of the stream. Must be called once, last.
  virtual absl::Status Finish(std::string* out) = 0;
};

}  // namespace telemetry::exporter::files
