#include "worker/codegen/promising_configs.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/record/strings.h"

namespace telemetry::worker::codegen {
namespace {

using record::Cat;

// The blocks of the last axes, and the parameters that suit them.
struct Tile {
  std::vector<int64_t> blocks;
  int64_t stages;
  int64_t warps;
};

// Rows, columns and the length of an iteration.
std::vector<Tile> TilesOfProducts() {
  return {{.blocks = {128, 256, 64}, .stages = 4, .warps = 8},
          {.blocks = {256, 128, 64}, .stages = 4, .warps = 8},
          {.blocks = {128, 128, 64}, .stages = 3, .warps = 4}};
}

// Rows (of queries, in attention) and the length of an iteration (keys).
std::vector<Tile> TilesOfChainedDots() {
  return {{.blocks = {64, 128}, .stages = 2, .warps = 4},
          {.blocks = {128, 128}, .stages = 2, .warps = 8},
          {.blocks = {128, 64}, .stages = 2, .warps = 8}};
}

bool HasChoice(const ConfigSpace& space, const std::string& key) {
  return std::any_of(space.parameters().begin(), space.parameters().end(),
                     [&](const ConfigParameter& one) { return one.key == key && one.choices.size() > 1; });
}

// Returns the text of the list of blocks. Earlier axes, such as batches, have blocks of 1.
std::string Blocks(const ConfigSpace& space, const Tile& tile) {
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

// Adds a config for each tile that the space has. `others` are its other parameters.
void AddConfigs(const ConfigSpace& space, const std::vector<Tile>& tiles, std::string_view others,
                std::vector<Config>* configs) {
  for (const Tile& tile : tiles) {
    const absl::StatusOr<Config> config =
        Config::Parse(Cat("Config(block_sizes=[", Blocks(space, tile), "], num_stages=", tile.stages,
                          ", num_warps=", tile.warps, ", ", others, ")"));
    if (!config.ok()) continue;
    // A kernel may lack a key, and a block may be too large for its grid.
    absl::StatusOr<Config> complete = space.Normalize(*config);
    if (complete.ok()) configs->push_back(*std::move(complete));
  }
}

}  // namespace

std::vector<Config> PromisingConfigs(const ConfigSpace& space) {
  std::vector<Config> configs;
  if (HasChoice(space, "producer_warp")) {
    AddConfigs(space, TilesOfProducts(), "l2_groupings=[8], pid_type='persistent_interleaved', producer_warp=True",
               &configs);
  }
  if (HasChoice(space, "overlap_dots")) AddConfigs(space, TilesOfChainedDots(), "overlap_dots=True", &configs);
  return configs;
}

}  // namespace telemetry::worker::codegen
