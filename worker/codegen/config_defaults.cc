#include "worker/codegen/config_defaults.h"

#include <algorithm>

#include "proto/record/strings.h"
#include "worker/codegen/access.h"
#include "worker/codegen/cluster.h"
#include "worker/codegen/kernel_facts.h"
#include "worker/codegen/product_loop.h"

namespace telemetry::worker::codegen {
namespace {

using ir::AxisKind;
using record::Cat;
using record::Json;
using Kind = ConfigParameter::Kind;

constexpr int64_t kMostBlock = 4096;
constexpr int64_t kMostPersistent = 8192;  // the longest reduction that is held at once by default, in elements
constexpr int64_t kTileElements = 1024;    // default elements of a tile of the grid
constexpr int64_t kLoopRows = 4;           // the same for kernels with a loop axis
constexpr int64_t kDotBlock = 64;
constexpr int64_t kDotDepth = 32;
constexpr int64_t kMostStages = 8;
constexpr int64_t kStageBytes = 20 << 10;  // the default is two stages up to this size of a loop's dot operands

bool IsSummedByDot(const ir::DeviceIr& ir, int axis) {
  return std::any_of(ir.graphs.begin(), ir.graphs.end(), [axis](const ir::Graph& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                       [axis](const ir::Node& node) { return node.op == ir::Op::kDot && node.axis == axis; });
  });
}

bool IsDotInLoop(const ir::Graph& graph, const ir::Node& node) {
  const bool loops = graph.kind == ir::GraphKind::kForLoop || graph.kind == ir::GraphKind::kReductionLoop;
  return loops && node.op == ir::Op::kDot;
}

// Returns the number of elements along reduction axes that a thread block holds for each element of the grid's tile.
// Long reduction axes are walked in chunks by default.
int64_t HeldByReductions(const ir::DeviceIr& ir) {
  int64_t held = 1;
  for (const ir::Axis& axis : ir.axes) {
    if (axis.kind != AxisKind::kReduction) continue;
    held =
        std::max(held, axis.extent.is_static ? std::min(PowerOfTwo(axis.extent.value), kMostPersistent) : kMostBlock);
  }
  return held;
}

class Builder {
 public:
  explicit Builder(const ir::DeviceIr& ir) : ir_(ir), has_dot_(HasDot(ir)) {}

  std::vector<ConfigParameter> Build() && {
    Blocks();
    Grid();
    Reductions();
    Accesses();
    Stages();
    parameters_.push_back(
        {.key = "num_warps", .kind = Kind::kPowerOfTwo, .low = 1, .high = 32, .default_value = Json::Integer(4)});
    Clusters();
    Overlap();
    Producer();
    return std::move(parameters_);
  }

 private:
  void Blocks() {
    int index = 0;
    int loop = 0;
    const bool has_loop = std::any_of(ir_.axes.begin(), ir_.axes.end(),
                                      [](const ir::Axis& axis) { return axis.kind == AxisKind::kLoop; });
    int64_t room = std::max<int64_t>(1, (has_loop ? kLoopRows : kTileElements) / HeldByReductions(ir_));
    // Visits the last axis first, because it is likely the contiguous one.
    std::vector<int64_t>& blocks = default_blocks_;
    blocks.assign(ir_.axes.size(), 1);
    for (size_t id = ir_.axes.size(); id-- > 0;) {
      const ir::Axis& axis = ir_.axes[id];
      if (axis.kind == AxisKind::kReduction) blocks[id] = Whole(axis.extent, kMostBlock);
      if (axis.fixed_block > 0 || axis.kind == AxisKind::kReduction) continue;
      blocks[id] = DefaultBlock(axis, room);
      if (axis.kind == AxisKind::kGrid) room = std::max<int64_t>(1, room / blocks[id]);
    }
    for (const ir::Axis& axis : ir_.axes) {
      if (axis.kind == AxisKind::kLoop) {
        parameters_.push_back({.key = "range_unroll_factors",
                               .index = loop++,
                               .kind = Kind::kInteger,
                               .low = 0,
                               .high = 4,
                               .default_value = Json::Integer(0)});
      }
      if (axis.fixed_block > 0 || axis.kind == AxisKind::kReduction) continue;
      parameters_.push_back({.key = "block_sizes",
                             .index = index++,
                             .kind = Kind::kPowerOfTwo,
                             .low = 1,
                             .high = Whole(axis.extent, kMostBlock),
                             .default_value = Json::Integer(blocks[static_cast<size_t>(axis.id)]),
                             .constraint = axis.kind == AxisKind::kGrid ? BlockConstraint() : ""});
    }
  }

  int64_t DefaultBlock(const ir::Axis& axis, int64_t room) const {
    const int64_t whole = axis.extent.is_static ? PowerOfTwo(axis.extent.value) : kMostBlock;
    const int64_t all = Whole(axis.extent, kMostBlock);
    if (has_dot_) return std::min(all, IsSummedByDot(ir_, axis.id) ? kDotDepth : kDotBlock);
    if (axis.kind == AxisKind::kLoop) return std::min(whole, kTileElements);
    return std::min({whole, room, kMostBlock});
  }

  void Grid() {
    int64_t count = 0;
    for (const ir::Axis& axis : ir_.axes) count += axis.kind == AxisKind::kGrid ? 1 : 0;
    if (count >= 2) {
      Json order = Json::Array();
      for (int64_t i = 0; i < count; ++i) order.items.push_back(Json::Integer(i));
      parameters_.push_back({.key = "loop_orders",
                             .index = 0,
                             .kind = Kind::kPermutation,
                             .low = count,
                             .high = count,
                             .default_value = std::move(order)});
      parameters_.push_back({.key = "l2_groupings",
                             .index = 0,
                             .kind = Kind::kPowerOfTwo,
                             .low = 1,
                             .high = 64,
                             .default_value = Json::Integer(1)});
    }
    parameters_.push_back(Choice("pid_type", -1, {"flat", "persistent_blocked", "persistent_interleaved"}));
  }

  void Reductions() {
    int index = 0;
    const std::vector<int> axes = ChoosableAxes(ir_, true);
    // Smaller chunks if there are several axes, because one value may have two of them.
    const int64_t chunk = axes.size() > 1 ? kMostBlock / 64 : kMostBlock;
    for (const int id : axes) {
      const ir::Size& extent = ir_.axes[static_cast<size_t>(id)].extent;
      const bool held = extent.is_static && extent.value <= kMostPersistent;
      const int64_t whole = Whole(extent, 2 * kMostPersistent);
      parameters_.push_back({.key = "reduction_loops",
                             .index = index++,
                             .kind = Kind::kPowerOfTwo,
                             .low = 1,
                             .high = whole,
                             .optional = extent.is_static,
                             .default_value = held ? Json::Null() : Json::Integer(std::min(chunk, whole))});
    }
  }

  void Clusters() {
    if (!SuitsClusters(ir_)) return;
    parameters_.push_back({.key = "num_ctas",
                           .kind = Kind::kPowerOfTwo,
                           .low = 1,
                           .high = kMostClusterBlocks,
                           .default_value = Json::Integer(1),
                           .constraint = Cat("for values above 1 ", ClusterRequirement(), " is required")});
  }

  // Returns the block size that covers an axis, at most `most` and at least 16, the smallest block of a dot. Returns
  // `most` if the extent is not known.
  static int64_t Whole(const ir::Size& extent, int64_t most) {
    if (!extent.is_static) return most;
    return std::clamp<int64_t>(PowerOfTwo(extent.value), 16, most);
  }

  void Accesses() {
    int load = 0;
    int store = 0;
    int index = 0;
    for (const Access& access : ListAccesses(ir_)) {
      const ir::Graph& graph = ir_.graphs[static_cast<size_t>(access.graph)];
      const ir::Node& node = graph.nodes[static_cast<size_t>(access.node)];
      const device::DType dtype = ir_.tensors[static_cast<size_t>(AccessedTensor(graph, node))].dtype;
      const auto widest = static_cast<int64_t>(16 / SizeOf(dtype));
      parameters_.push_back({.key = "vector_widths",
                             .index = index,
                             .kind = Kind::kPowerOfTwo,
                             .low = 1,
                             .high = widest,
                             .default_value = Json::Integer(std::min<int64_t>(widest, 8))});
      parameters_.push_back(Choice("indexing", index, {"pointer"}));
      parameters_.push_back(access.is_store ? Choice("store_eviction_policies", store++, {"", "first"})
                                            : Choice("load_eviction_policies", load++, {"", "first", "last"}));
      ++index;
    }
  }

  // Uses default_blocks_, so Blocks() must run before.
  void Stages() {
    int64_t bytes = 0;
    for (const ir::Graph& graph : ir_.graphs) {
      for (const ir::Node& node : graph.nodes) {
        if (!IsDotInLoop(graph, node)) continue;
        for (size_t operand = 0; operand < 2; ++operand) {
          bytes += DefaultBytes(graph.at(std::get<ir::NodeRef>(node.args[operand].value)));
        }
      }
    }
    if (bytes == 0) return;
    parameters_.push_back({.key = "num_stages",
                           .kind = Kind::kInteger,
                           .low = 1,
                           .high = kMostStages,
                           .default_value = Json::Integer(bytes <= kStageBytes ? 2 : 1)});
  }

  void Overlap() {
    if (!HasDotOfDot(ir_)) return;
    AddSwitch("overlap_dots");
  }

  void Producer() {
    if (!FindProductLoop(ir_)) return;
    AddSwitch("producer_warp");
  }

  // Adds a parameter that is off by default.
  void AddSwitch(const std::string& key) {
    parameters_.push_back({.key = key,
                           .kind = Kind::kChoice,
                           .choices = {Json::Bool(false), Json::Bool(true)},
                           .default_value = Json::Bool(false)});
  }

  // Returns the bytes of a tile of this value with default blocks.
  int64_t DefaultBytes(const ir::Node& value) const {
    auto bytes = static_cast<int64_t>(SizeOf(*value.dtype));
    for (const int axis : value.shape) bytes *= default_blocks_[static_cast<size_t>(axis)];
    return bytes;
  }

  // The first is the default.
  static ConfigParameter Choice(const std::string& key, int index, const std::vector<std::string>& names) {
    ConfigParameter parameter = {.key = key, .index = index, .kind = Kind::kChoice};
    for (const std::string& name : names) parameter.choices.push_back(Json::String(name));
    parameter.default_value = parameter.choices[0];
    return parameter;
  }

  const ir::DeviceIr& ir_;
  const bool has_dot_;
  std::vector<int64_t> default_blocks_;  // by axis
  std::vector<ConfigParameter> parameters_;
};

}  // namespace

std::string BlockConstraint() { return Cat("all grid blocks together have at most ", kMostTileElements, " elements"); }

std::vector<ConfigParameter> ParametersFor(const ir::DeviceIr& ir) { return Builder(ir).Build(); }

}  // namespace telemetry::worker::codegen
