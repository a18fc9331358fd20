#include "tests/worker/kernels/test_problems.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/record/strings.h"
#include "worker/kernels/trace_problem.h"

namespace telemetry::worker::kernels {
namespace {

using device::DType;
using record::AbslView;

// Sizes by number of dimensions, in the order of the dimensions' names. Small enough for evaluation on the host.
using Shapes = std::map<size_t, std::vector<int64_t>>;
const Shapes& Ragged() {
  static const auto* const shapes =
      new Shapes{{1, {70}}, {2, {37, 70}}, {3, {37, 45, 70}}, {4, {3, 37, 45, 70}}, {5, {3, 37, 2, 45, 70}}};
  return *shapes;
}
const Shapes& Even() {
  static const auto* const shapes =
      new Shapes{{1, {64}}, {2, {32, 64}}, {3, {32, 64, 64}}, {4, {2, 32, 64, 64}}, {5, {2, 32, 2, 64, 64}}};
  return *shapes;
}
// Returns a size of several tiles with a ragged end.
int64_t LongSize(const LibraryKernel& kernel) { return kernel.default_sizes.size() <= 2 ? 1100 : 300; }

// Sets the number of keys to the number of queries for causal attention, which requires it.
Sizes Fit(const LibraryKernel& kernel, Sizes sizes, const Numbers& flags) {
  if (kernel.name == "attention" && flags.at("causal") != 0) sizes["n"] = sizes["m"];
  return sizes;
}

Sizes MakeSizes(const LibraryKernel& kernel, const Shapes& shapes) {
  const std::vector<int64_t>& shape = shapes.at(kernel.default_sizes.size());
  Sizes sizes;
  for (const auto& [dimension, unused] : kernel.default_sizes) sizes[dimension] = shape[sizes.size()];
  return sizes;
}

bool IsIndexed(const LibraryKernel& kernel, std::string_view dimension) {
  for (const TensorArgument& tensor : kernel.tensors) {
    if (tensor.indexes == dimension) return true;
  }
  return false;
}

bool HasDot(const ir::DeviceIr& traced) {
  return std::any_of(traced.graphs.begin(), traced.graphs.end(), [](const ir::Graph& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                       [](const ir::Node& node) { return node.op == ir::Op::kDot; });
  });
}

class ProblemList {
 public:
  ProblemList(const LibraryKernel& kernel, Numbers flags) : kernel_(kernel), flags_(std::move(flags)) {
    for (const auto& [name, value] : flags_) suffix_ += absl::StrCat("_", name, value);
  }

  void Add(const std::string& name, DType dtype, const Sizes& sizes) {
    problems_.push_back({absl::StrCat(name, "_", AbslView(ShortName(dtype)), suffix_),
                         MakeProblem(kernel_, dtype, Fit(kernel_, sizes, flags_), flags_)});
  }
  std::vector<NamedProblem> Take() { return std::move(problems_); }

 private:
  const LibraryKernel& kernel_;
  const Numbers flags_;
  std::string suffix_;
  std::vector<NamedProblem> problems_;
};

// Adds the ragged problem with each dimension in turn set to `size`.
void AddEachDimension(const LibraryKernel& kernel, const std::string& name, int64_t size, ProblemList* list) {
  for (const auto& [dimension, unused] : kernel.default_sizes) {
    if (size == 0 && IsIndexed(kernel, dimension)) continue;  // an empty dimension has no valid index
    Sizes sizes = MakeSizes(kernel, Ragged());
    sizes[dimension] = size;
    list->Add(absl::StrCat(name, "_", dimension), kernel.default_dtype, sizes);
  }
}

}  // namespace

std::vector<Numbers> FlagCombinations(const LibraryKernel& kernel) {
  std::vector<Numbers> all = {{}};
  for (const NumberArgument& number : kernel.numbers) {
    if (!number.is_flag) continue;
    std::vector<Numbers> with = all;
    for (Numbers& flags : all) flags[number.name] = 0;
    for (Numbers& flags : with) flags[number.name] = 1;
    all.insert(all.end(), with.begin(), with.end());
  }
  return all;
}

std::vector<const LibraryKernel*> KernelsWithDots() {
  std::vector<const LibraryKernel*> kernels;
  for (const LibraryKernel* kernel : AllKernels()) {
    const absl::StatusOr<ir::DeviceIr> traced = TraceProblem(*kernel, DefaultProblem(*kernel));
    if (traced.ok() && HasDot(*traced)) kernels.push_back(kernel);
  }
  return kernels;
}

Problem RaggedProblem(const LibraryKernel& kernel, DType dtype, const Numbers& flags) {
  return MakeProblem(kernel, dtype, Fit(kernel, MakeSizes(kernel, Ragged()), flags), flags);
}

std::vector<NamedProblem> TestProblems(const LibraryKernel& kernel) {
  std::vector<NamedProblem> all;
  for (const Numbers& flags : FlagCombinations(kernel)) {
    ProblemList list(kernel, flags);
    for (const DType dtype : kernel.dtypes) list.Add("ragged", dtype, MakeSizes(kernel, Ragged()));
    list.Add("even", kernel.default_dtype, MakeSizes(kernel, Even()));
    Sizes ones = MakeSizes(kernel, Even());
    for (auto& [dimension, size] : ones) size = 1;
    list.Add("ones", kernel.default_dtype, ones);
    AddEachDimension(kernel, "one", 1, &list);
    AddEachDimension(kernel, "empty", 0, &list);
    AddEachDimension(kernel, "long", LongSize(kernel), &list);
    for (NamedProblem& problem : list.Take()) all.push_back(std::move(problem));
  }
  return all;
}

std::string Mismatch(const LibraryKernel& kernel, const Problem& problem, const Outputs& expected,
                     const Outputs& actual) {
  if (expected.size() != actual.size()) return absl::StrCat(actual.size(), " outputs");
  std::string report;
  for (const auto& [name, want] : expected) {
    const auto got = actual.find(name);
    if (got == actual.end()) return absl::StrCat("no output ", name);
    const ir::Comparison comparison = ir::Compare(want, got->second, kernel.tolerance(problem, got->second.dtype));
    if (!comparison.ok()) absl::StrAppend(&report, name, ": ", comparison.ToString(), "\n");
  }
  return report;
}

}  // namespace telemetry::worker::kernels
