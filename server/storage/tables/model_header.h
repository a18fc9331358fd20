#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace telemetry::storage::tables {

// The most bytes of the first line of a model's file.
inline constexpr uint64_t kMaxModelHeaderBytes = uint64_t{1} << 20;
// The most values in the first line: each takes up to 200 bytes of memory while the line is read.
inline constexpr uint64_t kMaxModelHeaderValues = 32768;

// The first line of the file of a cost model (worker/model/README.md), as far as the collector uses it.
struct ModelHeader {
  int64_t format_version = 0;   // at least 1
  int64_t feature_version = 0;  // at least 1
  std::string trees_sha256;     // 64 lower-case digits
  std::string provenance_json;  // StoredModel.provenance_json
};

// Parses the first line of a file, without its line end. INVALID_ARGUMENT: it is no header of a model, or exceeds a
// limit; the message contains the reason.
absl::StatusOr<ModelHeader> ParseModelHeader(std::string_view line);

}  // namespace telemetry::storage::tables
