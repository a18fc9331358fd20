#include "server/web/assets/asset.h"

#include <algorithm>

namespace telemetry::web::assets {

const Asset* FindAsset(std::string_view name) {
  const Asset* const end = kAssets + kAssetCount;
  const Asset* const found = std::lower_bound(
      kAssets, end, name, [](const Asset& asset, std::string_view wanted) { return asset.name < wanted; });
  return found != end && found->name == name ? found : nullptr;
}

}  // namespace telemetry::web::assets
