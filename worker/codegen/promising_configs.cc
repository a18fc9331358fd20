#include "worker/codegen/promising_configs.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "proto/record/strings.h"

namespace telemetry::worker::codegen {
namespace {

using record::Cat;

// A tile of a product: its rows, its columns and the length of an iteration, and the parameters that suit it.
struct ProductTile {
  std::array<int64_t, 3> blocks;
  int64_t stages;
  int64_t warps;
};

constexpr std::array<ProductTile, 3> kTiles = {{
    {.blocks = {128, 256, 64}, .stages = 4, .warps = 8},
    {.blocks = {256, 128, 64}, .stages = 4, .warps = 8},
    {.blocks = {128, 128, 64}, .stages = 3, .warps = 4},
}};

bool HasChoice(const ConfigSpace& space, const std::string& key) {
  return std::any_of(space.parameters().begin(), space.parameters().end(),
                     [&](const ConfigParameter& one) { return one.key == key && one.choices.size() > 1; });
}

// Returns the text of the list of blocks. The last three axes of a product are those of the tile.
std::string Blocks(const ConfigSpace& space, const ProductTile& tile) {
  std::vector<int64_t> most;
  for (const ConfigParameter& parameter : space.parameters()) {
    if (parameter.key == "block_sizes") most.push_back(parameter.high);
  }
  std::string text;
  for (size_t i = 0; i < most.size(); ++i) {
    const size_t left = most.size() - i;
    const int64_t block = left > tile.blocks.size() ? 1 : tile.blocks.at(tile.blocks.size() - left);
    text += Cat(i == 0 ? "" : ", ", std::min(block, most[i]));
  }
  return text;
}

}  // namespace

std::vector<Config> PromisingConfigs(const ConfigSpace& space) {
  std::vector<Config> configs;
  if (!HasChoice(space, "producer_warp")) return configs;
  for (const ProductTile& tile : kTiles) {
    const absl::StatusOr<Config> config =
        Config::Parse(Cat("Config(block_sizes=[", Blocks(space, tile), "], l2_groupings=[8], num_stages=", tile.stages,
                          ", num_warps=", tile.warps, ", pid_type='persistent_interleaved', producer_warp=True)"));
    if (!config.ok()) continue;
    // A kernel may lack a key, and a block may be too large for its grid.
    absl::StatusOr<Config> complete = space.Normalize(*config);
    if (complete.ok()) configs.push_back(*std::move(complete));
  }
  return configs;
}

}  // namespace telemetry::worker::codegen
