#pragma once

#include <cstddef>
#include <string_view>

namespace telemetry::web::assets {

// A file of the pages, embedded in the program. The views are of static storage.
struct Asset {
  std::string_view name;  // "core/api.js", its path below /assets
  std::string_view content_type;
  std::string_view etag;  // with its quotes
  std::string_view plain;
  std::string_view gzip;
};

// The assets, ordered by name. The build generates them.
extern const Asset kAssets[];
extern const size_t kAssetCount;

// Returns the asset with this name, or nullptr.
const Asset* FindAsset(std::string_view name);

}  // namespace telemetry::web::assets
