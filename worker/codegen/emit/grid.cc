#include "worker/codegen/emit/grid.h"

#include <algorithm>

namespace telemetry::worker::codegen::emit {
namespace {

using record::Cat;

constexpr int64_t kThreadsPerComputeUnit = 1024;
constexpr int64_t kReservedBytes = 1 << 10;  // of shared memory, for each block

std::string TileCount(const TileCode& code, int axis) {
  const ir::Size& extent = code.ir().axes[static_cast<size_t>(axis)].extent;
  const int64_t block = code.plan().blocks[static_cast<size_t>(axis)];
  if (extent.is_static) return std::to_string((extent.value + block - 1) / block);
  return block == 1 ? code.Extent(extent) : Cat("((", code.Extent(extent), " + ", block - 1, ") / ", block, ")");
}

std::string TileName(int axis) { return Cat("tile", axis); }

// Emits the tile's position along each of these axes, slowest first. Splits the number `rest` from the fastest axis on.
void SplitTile(TileCode& code, const std::vector<int>& axes) {
  text::CodeWriter& out = code.out();
  for (size_t i = axes.size(); i-- > 0;) {
    const std::string count = TileCount(code, axes[i]);
    out.Line("const i64 ", TileName(axes[i]), " = ", i == 0 ? "rest" : Cat("rest % ", count), ";");
    if (i > 0) out.Line("rest /= ", count, ";");
  }
}

void SplitGrouped(TileCode& code, int slow, int fast) {
  text::CodeWriter& out = code.out();
  const int64_t group = code.plan().l2_grouping;
  const std::string slow_count = TileCount(code, slow);
  const std::string fast_count = TileCount(code, fast);
  out.Line("const i64 plane = rest % (", slow_count, " * ", fast_count, ");");
  out.Line("rest /= ", slow_count, " * ", fast_count, ";");
  out.Line("const i64 group_first = plane / (", group, " * ", fast_count, ") * ", group, ";");
  out.Line("const i64 group_left = ", slow_count, " - group_first;");
  out.Line("const i64 group_size = group_left < ", group, " ? group_left : ", group, ";");
  out.Line("const i64 in_group = plane % (", group, " * ", fast_count, ");");
  out.Line("const i64 ", TileName(slow), " = group_first + in_group % group_size;");
  out.Line("const i64 ", TileName(fast), " = in_group / group_size;");
}

void OpenTileLoop(TileCode& code) {
  text::CodeWriter& out = code.out();
  const int64_t cluster = code.plan().cluster_blocks;
  const auto clusters = [cluster](const std::string& blocks) {
    return cluster == 1 ? Cat("(i64)", blocks) : Cat("(i64)(", blocks, " / ", cluster, ")");
  };
  const std::string block = clusters(code.dialect().is_cuda() ? "blockIdx.x" : "get_group_id(0)");
  const std::string blocks = clusters(code.dialect().is_cuda() ? "gridDim.x" : "get_num_groups(0)");
  if (code.plan().pid_type == plan::PidType::kFlat) {
    out.Open("");
    out.Line("const i64 tile = ", block, ";");
    return;
  }
  std::string tiles = "(i64)1";
  for (const int axis : code.plan().grid) tiles += Cat(" * ", TileCount(code, axis));
  out.Line("const i64 tiles = ", tiles, ";");
  if (code.plan().pid_type == plan::PidType::kPersistentInterleaved) {
    out.Open("for (i64 tile = ", block, "; tile < tiles; tile += ", blocks, ")");
    return;
  }
  out.Line("const i64 share = (tiles + ", blocks, " - 1) / ", blocks, ";");
  out.Line("const i64 first_tile = ", block, " * share;");
  out.Line("const i64 end_tile = first_tile + share < tiles ? first_tile + share : tiles;");
  out.Open("for (i64 tile = first_tile; tile < end_tile; ++tile)");
}

}  // namespace

void OpenTiles(TileCode& code) {
  const plan::Plan& plan = code.plan();
  text::CodeWriter& out = code.out();
  OpenTileLoop(code);
  if (plan.grid.empty()) return;
  out.Line("i64 rest = tile;");
  std::vector<int> axes = plan.grid;
  if (plan.l2_grouping > 1 && axes.size() >= 2) {
    SplitGrouped(code, axes[axes.size() - 2], axes.back());
    axes.resize(axes.size() - 2);
  }
  SplitTile(code, axes);
  const std::string type = code.PositionType();
  for (const int axis : plan.grid) {
    const int64_t block = plan.blocks[static_cast<size_t>(axis)];
    out.Line("const ", type, " ", TileCode::Begin(axis), " = (", type, ")", TileName(axis),
             block == 1 ? "" : Cat(" * ", block), ";");
  }
}

int64_t PersistentTiles(const plan::Plan& plan) {
  if (plan.pid_type == plan::PidType::kFlat) return 0;
  const int64_t blocks = plan.target.compute_units * std::max<int64_t>(1, kThreadsPerComputeUnit / plan.threads);
  return std::max<int64_t>(1, blocks / plan.cluster_blocks);
}

int64_t ResidentTiles(const plan::Plan& plan, int64_t shared_bytes) {
  if (plan.pid_type == plan::PidType::kFlat) return 0;
  const auto all = static_cast<int64_t>(plan.target.shared_bytes_per_block) + kReservedBytes;
  const int64_t blocks = std::min(all / (shared_bytes + kReservedBytes), kThreadsPerComputeUnit / plan.threads);
  return plan.target.compute_units * std::max<int64_t>(1, blocks);
}

}  // namespace telemetry::worker::codegen::emit
