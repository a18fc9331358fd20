#include "server/web/rows/stage.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace telemetry::web::rows {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"", "unspecified", "screening", "search", "final", "rebenchmark"};

}  // namespace

Stage ParseStage(std::string_view name) {
  const auto* const found = std::find(kNames.begin(), kNames.end(), name);
  return found == kNames.end() ? Stage::kUnspecified : static_cast<Stage>(std::distance(kNames.begin(), found));
}

std::string_view StageName(Stage stage) { return kNames[static_cast<size_t>(stage)]; }

}  // namespace telemetry::web::rows
