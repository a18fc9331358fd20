#include "worker/ir/reference/reference.h"

#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/ir/reference/evaluator.h"

namespace telemetry::worker::ir::reference {
namespace {

using record::Cat;

absl::Status CheckArgument(const HostTensor& expected, const HostArray& array) {
  if (array.dtype != expected.dtype) {
    return absl::InvalidArgumentError(
        Cat("argument ", expected.name, " is of dtype ", ShortName(array.dtype), ", not ", ShortName(expected.dtype)));
  }
  if (array.sizes.size() != expected.sizes.size() || array.strides.size() != expected.sizes.size()) {
    return absl::InvalidArgumentError(
        Cat("argument ", expected.name, " has ", array.sizes.size(), " dimensions, not ", expected.sizes.size()));
  }
  return absl::OkStatus();
}

absl::Status PrepareTensors(const DeviceIr& ir, Tensors* tensors) {
  for (size_t i = 0; i < ir.tensors.size(); ++i) {
    if (ir.tensors[i].is_output) continue;
    if (i >= tensors->size()) return absl::InvalidArgumentError(Cat("argument ", ir.tensors[i].name, " is missing"));
    RETURN_IF_ERROR(CheckArgument(ir.tensors[i], (*tensors)[i]));
  }
  tensors->resize(ir.tensors.size());
  for (size_t i = 0; i < ir.tensors.size(); ++i) {
    if (!ir.tensors[i].is_output) continue;
    (*tensors)[i] = HostArray::Dense(ir.tensors[i].dtype, ActualSizes(ir, static_cast<int>(i), *tensors));
  }
  return absl::OkStatus();
}

std::vector<size_t> GridAxes(const DeviceIr& ir) {
  std::vector<size_t> axes;
  for (const Axis& axis : ir.axes) {
    if (axis.kind == AxisKind::kGrid) axes.push_back(static_cast<size_t>(axis.id));
  }
  return axes;
}

// Returns the root graph, or its alternate for these axes.
absl::StatusOr<int> RootFor(const DeviceIr& ir, const std::vector<int>& rolled_axes) {
  if (rolled_axes.empty()) return ir.root;
  const std::set<int> wanted(rolled_axes.begin(), rolled_axes.end());
  for (const RolledReduction& rolled : ir.rolled) {
    if (rolled.original_graph == ir.root && std::set<int>(rolled.axes.begin(), rolled.axes.end()) == wanted) {
      return rolled.rolled_graph;
    }
  }
  return absl::InvalidArgumentError(
      Cat("kernel ", ir.kernel_name, " has no alternate with rolled axes ", absl::StrJoin(rolled_axes, ", ")));
}

// Advances the grid by one tile, the last axis first. Returns false after the last tile.
bool NextTile(const std::vector<size_t>& grid, AxisRanges* ranges) {
  for (size_t d = grid.size(); d-- > 0;) {
    AxisRange& range = (*ranges)[grid[d]];
    range.begin += range.block;
    if (range.begin < range.extent) return true;
    range.begin = 0;
  }
  return false;
}

}  // namespace

std::vector<int64_t> ActualSizes(const DeviceIr& ir, int tensor, const Tensors& tensors) {
  std::vector<int64_t> sizes;
  for (const Size& size : ir.tensors[static_cast<size_t>(tensor)].sizes) {
    const bool from_argument = !size.is_static && size.tensor >= 0;
    sizes.push_back(from_argument ? tensors[static_cast<size_t>(size.tensor)].sizes[static_cast<size_t>(size.dimension)]
                                  : size.value);
  }
  return sizes;
}

absl::Status Evaluate(const DeviceIr& ir, const Options& options, Tensors* tensors) {
  RETURN_IF_ERROR(PrepareTensors(ir, tensors));
  ASSIGN_OR_RETURN(const int root, RootFor(ir, options.rolled_axes));
  Evaluator evaluator(ir, options, tensors);
  const std::vector<size_t> grid = GridAxes(ir);
  for (const size_t axis : grid) {
    if (evaluator.ranges()[axis].extent == 0) return absl::OkStatus();
  }
  do {
    if (absl::StatusOr<Evaluator::Values> ran = evaluator.RunGraph(root, {}); !ran.ok()) return ran.status();
  } while (NextTile(grid, &evaluator.ranges()));
  return absl::OkStatus();
}

}  // namespace telemetry::worker::ir::reference
