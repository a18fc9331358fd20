#include "worker/ir/reference/reference.h"

#include <algorithm>
#include <future>
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

absl::Status CheckArguments(const DeviceIr& ir, const Tensors& tensors) {
  for (size_t i = 0; i < ir.tensors.size(); ++i) {
    if (ir.tensors[i].is_output) continue;
    if (i >= tensors.size()) return absl::InvalidArgumentError(Cat("argument ", ir.tensors[i].name, " is missing"));
    RETURN_IF_ERROR(CheckArgument(ir.tensors[i], tensors[i]));
  }
  return absl::OkStatus();
}

absl::Status PrepareTensors(const DeviceIr& ir, Tensors* tensors) {
  RETURN_IF_ERROR(CheckArguments(ir, *tensors));
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

// Makes the outputs arrays without data.
absl::Status PrepareLayouts(const DeviceIr& ir, Tensors* tensors) {
  RETURN_IF_ERROR(CheckArguments(ir, *tensors));
  tensors->resize(ir.tensors.size());
  for (size_t i = 0; i < ir.tensors.size(); ++i) {
    if (!ir.tensors[i].is_output) continue;
    HostArray& output = (*tensors)[i];
    output = {.dtype = ir.tensors[i].dtype, .sizes = ActualSizes(ir, static_cast<int>(i), *tensors)};
    output.strides = RowMajorStrides(output.sizes);
  }
  return absl::OkStatus();
}

// Returns FAILED_PRECONDITION if the kernel loads from a tensor that it stores to.
absl::Status CheckPartsAreIndependent(const DeviceIr& ir) {
  std::set<int> loaded;
  std::set<int> stored;
  for (const Graph& graph : ir.graphs) {
    for (const Node& node : graph.nodes) {
      if (node.op != Op::kLoad && node.op != Op::kStore) continue;
      const int tensor = graph.at(std::get<NodeRef>(node.args[0].value)).tensor;
      (node.op == Op::kLoad ? loaded : stored).insert(tensor);
    }
  }
  for (const int tensor : stored) {
    if (!loaded.contains(tensor)) continue;
    return absl::FailedPreconditionError(Cat("kernel ", ir.kernel_name, " loads from ",
                                             ir.tensors[static_cast<size_t>(tensor)].name, ", which it stores to"));
  }
  return absl::OkStatus();
}

// Returns options with the smallest blocks along the axes of the grid.
Options AtPoints(const DeviceIr& ir, Options options) {
  options.block_sizes.resize(ir.axes.size());
  for (const size_t axis : GridAxes(ir)) options.block_sizes[axis] = 1;
  return options;
}

std::pair<int, int64_t> PlaceOf(const StoredElement& element) { return {element.tensor, element.offset}; }

// Removes all but the last value of each element.
void KeepLast(std::vector<StoredElement>* stored) {
  const auto before = [](const StoredElement& a, const StoredElement& b) { return PlaceOf(a) < PlaceOf(b); };
  const auto not_before = [&](const StoredElement& a, const StoredElement& b) { return !before(a, b); };
  if (std::adjacent_find(stored->begin(), stored->end(), not_before) == stored->end()) return;
  std::reverse(stored->begin(), stored->end());
  std::stable_sort(stored->begin(), stored->end(), before);
  const auto is_same = [](const StoredElement& a, const StoredElement& b) { return PlaceOf(a) == PlaceOf(b); };
  stored->erase(std::unique(stored->begin(), stored->end(), is_same), stored->end());
}

// Appends at most `most` elements, evenly selected, with the first and the last.
void AppendSome(const std::vector<StoredElement>& from, size_t most, std::vector<StoredElement>* to) {
  if (from.size() <= most || most < 2) {
    to->insert(to->end(), from.begin(), from.end());
    return;
  }
  for (size_t i = 0; i < most; ++i) to->push_back(from[i * (from.size() - 1) / (most - 1)]);
}

// Some of the points, for one thread: those whose number is `first` modulo `step`.
struct Part {
  size_t first = 0;
  size_t step = 1;
};

absl::StatusOr<std::vector<StoredElement>> EvaluatePart(const DeviceIr& ir, const Options& options,
                                                        absl::Span<const GridPoint> points, Part part,
                                                        size_t most_elements, Tensors* tensors) {
  ASSIGN_OR_RETURN(const int root, RootFor(ir, options.rolled_axes));
  std::vector<StoredElement> stored;
  std::vector<StoredElement> of_point;
  Evaluator evaluator(ir, options, tensors, &of_point);
  const std::vector<size_t> grid = GridAxes(ir);
  for (size_t i = part.first; i < points.size(); i += part.step) {
    for (size_t d = 0; d < grid.size(); ++d) {
      AxisRange& range = evaluator.ranges()[grid[d]];
      range.begin = points[i][d] / range.block * range.block;
    }
    of_point.clear();
    RETURN_IF_ERROR(evaluator.RunGraph(root, {}).status());
    KeepLast(&of_point);
    AppendSome(of_point, most_elements, &stored);
  }
  return stored;
}

}  // namespace

std::vector<int64_t> GridExtents(const DeviceIr& ir, const Tensors& tensors) {
  std::vector<int64_t> extents;
  for (const size_t axis : GridAxes(ir)) extents.push_back(ActualExtent(ir.axes[axis], tensors));
  return extents;
}

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

absl::StatusOr<std::vector<StoredElement>> EvaluateAt(const DeviceIr& ir, const Options& options,
                                                      absl::Span<const GridPoint> points, const PointOptions& at_points,
                                                      Tensors* tensors) {
  RETURN_IF_ERROR(CheckPartsAreIndependent(ir));
  RETURN_IF_ERROR(PrepareLayouts(ir, tensors));
  const Options small_blocks = AtPoints(ir, options);
  const auto threads = static_cast<size_t>(std::max(1, at_points.threads));
  std::vector<std::future<absl::StatusOr<std::vector<StoredElement>>>> parts;
  for (size_t i = 0; i < threads; ++i) {
    parts.push_back(std::async(std::launch::async, [&, i] {
      return EvaluatePart(ir, small_blocks, points, {.first = i, .step = threads}, at_points.most_elements, tensors);
    }));
  }
  absl::Status status;
  std::vector<std::vector<StoredElement>> done;
  size_t count = 0;
  for (auto& running : parts) {
    absl::StatusOr<std::vector<StoredElement>> part = running.get();
    status.Update(part.status());
    if (!part.ok()) continue;
    count += part->size();
    done.push_back(*std::move(part));
  }
  RETURN_IF_ERROR(status);
  std::vector<StoredElement> stored;
  stored.reserve(count);
  for (const std::vector<StoredElement>& part : done) stored.insert(stored.end(), part.begin(), part.end());
  return stored;
}

absl::StatusOr<double> WorkOfPoint(const DeviceIr& ir, const Options& options, Tensors* tensors) {
  RETURN_IF_ERROR(CheckPartsAreIndependent(ir));
  RETURN_IF_ERROR(PrepareLayouts(ir, tensors));
  ASSIGN_OR_RETURN(const int root, RootFor(ir, options.rolled_axes));
  const Options at_points = AtPoints(ir, options);
  std::vector<StoredElement> stored;
  Evaluator evaluator(ir, at_points, tensors, &stored);
  for (const size_t axis : GridAxes(ir)) {
    AxisRange& range = evaluator.ranges()[axis];
    if (range.extent == 0) return 0;
    range.begin = (range.extent - 1) / range.block * range.block;
  }
  RETURN_IF_ERROR(evaluator.RunGraph(root, {}).status());
  return evaluator.work();
}

}  // namespace telemetry::worker::ir::reference
