#pragma once

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "proto/record/ids.h"
#include "server/storage/model_change.h"

namespace telemetry::storage {

// Returns the file of a cost model, as far as a collector checks it. `trees` is any text.
inline std::string ModelFile(std::string_view trees, int feature_version = 1,
                             std::string_view provenance = R"({"created": "2026-01-01"})") {
  return absl::StrCat(R"({"format": "autotune-telemetry cost model", "version": 1, "features": {"version": )",
                      feature_version, R"(, "names": ["a"]}, "base": 0.5, "trees": 1, "trees_sha256": ")",
                      record::Sha256Hex(trees), R"(", "provenance": )", std::string(provenance), "}\n",
                      std::string(trees));
}

// Returns the request for a part of a file.
inline v1::PutModelRequest ModelPart(std::string_view file, uint32_t part = 0) {
  v1::PutModelRequest request;
  request.set_sha256(record::Sha256(file));
  request.set_size_bytes(file.size());
  request.set_part(part);
  request.set_data(std::string(file.substr(part * kModelPartBytes, kModelPartBytes)));
  return request;
}

}  // namespace telemetry::storage
