#include "tests/worker/ir/random_kernel.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "proto/record/strings.h"
#include "tests/worker/ir/random_inputs.h"
#include "tests/worker/ir/random_regions.h"
#include "tests/worker/ir/random_terms.h"
#include "tests/worker/ir/rng.h"
#include "worker/ir/trace.h"

namespace telemetry::worker::ir {
namespace {

using device::DType;
using record::Cat;

constexpr int64_t kMostElements = 3'000;  // elements of all axes together
constexpr int64_t kTableSize = 11;

struct PlannedAxis {
  AxisKind kind = AxisKind::kGrid;
  int64_t extent = 1;
};

// The axes and tensors of a kernel, chosen before it is traced.
struct Plan {
  std::vector<PlannedAxis> axes;  // axes of the grid, then reductions, then loops
  std::vector<PlannedTensor> tensors;
  size_t all = 0;               // the tensor with every axis of the grid and of the reductions
  std::vector<size_t> data;     // tensors to load
  std::vector<size_t> walked;   // tensors with a loop axis
  std::vector<size_t> factors;  // two tensors to be multiplied along an axis of a loop or reduction
  std::vector<size_t> lookup;   // a tensor of positions, then the table that they index
};

class Planner {
 public:
  Planner(Rng* rng, const RandomKernelOptions& options) : rng_(*rng), options_(options) {}

  Plan Make() {
    PlanAxes();
    plan_.all = Add("x", FloatType(), Shuffled(FindAxes({AxisKind::kGrid, AxisKind::kReduction})));
    plan_.data.push_back(plan_.all);
    for (int64_t i = rng_.Below(3); i > 0; --i) PlanData();
    if (options_.loops && rng_.OneIn(3)) PlanWalked();
    if (options_.loops && rng_.OneIn(5)) PlanFactors();
    if (options_.gathers && rng_.OneIn(4)) PlanLookup();
    return std::move(plan_);
  }

 private:
  void PlanAxes() {
    const std::vector<int64_t> extents = {1, 2, 3, 5, 7, 16, 17, 31, 33, 40, 65};
    const int64_t grid = rng_.OneIn(5) ? 3 : rng_.Between(1, 2);
    const int64_t reductions = rng_.OneIn(6) ? 2 : rng_.Below(2);
    for (int64_t i = 0; i < grid; ++i) plan_.axes.push_back({AxisKind::kGrid, rng_.Pick(extents)});
    for (int64_t i = 0; i < reductions; ++i) plan_.axes.push_back({AxisKind::kReduction, rng_.Pick(extents)});
    while (Elements() > kMostElements) {
      int64_t* largest = &plan_.axes[0].extent;
      for (PlannedAxis& axis : plan_.axes) largest = axis.extent > *largest ? &axis.extent : largest;
      *largest /= 2;
    }
  }

  void PlanData() {
    std::vector<size_t> axes = Shuffled(FindAxes({AxisKind::kGrid, AxisKind::kReduction}));
    axes.resize(static_cast<size_t>(rng_.Between(1, static_cast<int64_t>(axes.size()))));
    // The terms know the ranges of these dtypes. Other integers: codegen's integer_kernels_test.
    const DType dtype =
        rng_.Pick(std::vector<DType>{DType::kF32, DType::kF16, DType::kBF16, DType::kI32, DType::kBool});
    plan_.data.push_back(Add("d", dtype, axes));
  }

  void PlanWalked() {
    std::vector<size_t> axes = FindAxes({AxisKind::kGrid});
    axes.push_back(AddLoopAxis());
    plan_.walked.push_back(Add("w", rng_.OneIn(4) ? DType::kI32 : FloatType(), Shuffled(axes)));
  }

  void PlanFactors() {
    const std::vector<size_t> grid = FindAxes({AxisKind::kGrid});
    if (grid.size() < 2) return;
    const DType dtype = FloatType();
    const std::vector<size_t> reductions = FindAxes({AxisKind::kReduction});
    const size_t depth = reductions.empty() || rng_.OneIn(2) ? AddLoopAxis() : reductions[0];
    plan_.factors = {Add("a", dtype, Shuffled({grid[0], depth})), Add("b", dtype, Shuffled({grid[1], depth}))};
  }

  void PlanLookup() {
    std::vector<size_t> axes = Shuffled(FindAxes({AxisKind::kGrid}));
    axes.resize(1);
    plan_.lookup = {Add("positions", DType::kI32, axes), Add("table", FloatType(), {})};
    plan_.tensors[plan_.lookup[0]].below = kTableSize;
    plan_.tensors[plan_.lookup[1]].sizes = {kTableSize};
  }

  size_t AddLoopAxis() {
    plan_.axes.push_back({AxisKind::kLoop, rng_.Pick(std::vector<int64_t>{1, 5, 16, 19, 33, 50})});
    return plan_.axes.size() - 1;
  }

  size_t Add(const std::string& name, DType dtype, const std::vector<size_t>& axes) {
    PlannedTensor tensor = {.name = Cat(name, plan_.tensors.size()), .dtype = dtype, .axes = axes};
    for (const size_t axis : axes) tensor.sizes.push_back(plan_.axes[axis].extent);
    plan_.tensors.push_back(std::move(tensor));
    return plan_.tensors.size() - 1;
  }

  std::vector<size_t> FindAxes(const std::vector<AxisKind>& kinds) const {
    std::vector<size_t> axes;
    for (size_t i = 0; i < plan_.axes.size(); ++i) {
      if (std::find(kinds.begin(), kinds.end(), plan_.axes[i].kind) != kinds.end()) axes.push_back(i);
    }
    return axes;
  }

  std::vector<size_t> Shuffled(std::vector<size_t> axes) {
    rng_.Shuffle(&axes);
    return axes;
  }

  DType FloatType() { return rng_.Pick(std::vector<DType>{DType::kF32, DType::kF32, DType::kF16, DType::kBF16}); }

  int64_t Elements() const {
    int64_t elements = 1;
    for (const PlannedAxis& axis : plan_.axes) elements *= axis.extent;
    return elements;
  }

  Rng& rng_;
  const RandomKernelOptions& options_;
  Plan plan_;
};

// A tracer of a random kernel over a plan.
class KernelTracer {
 public:
  KernelTracer(const Plan& plan, const RandomKernelOptions& options, Trace* trace, Rng* rng)
      : plan_(plan), options_(options), trace_(*trace), rng_(*rng), terms_(trace, rng), regions_(trace, rng, &terms_) {}

  void Run(std::map<int, Tolerance>* tolerances) {
    MakeAxes();
    LoadData();
    for (int64_t step = rng_.Between(3, 12); step > 0; --step) Step();
    if (!plan_.walked.empty()) WalkTensor();
    if (!plan_.factors.empty()) MultiplyTensors();
    for (int64_t step = rng_.Between(1, 6); step > 0; --step) Step();
    Store(pool_.back(), tolerances);
    for (int64_t more = rng_.Below(3); more > 0; --more) Store(rng_.Pick(pool_), tolerances);
  }

 private:
  Size SizeOfAxis(size_t tensor, size_t axis) const {
    const std::vector<size_t>& axes = plan_.tensors[tensor].axes;
    const auto dimension = std::find(axes.begin(), axes.end(), axis) - axes.begin();
    return trace_.SizeOf(trace_.Tensor(plan_.tensors[tensor].name), static_cast<int>(dimension));
  }

  void MakeAxes() {
    for (size_t i = 0; i < plan_.axes.size(); ++i) {
      if (plan_.axes[i].kind == AxisKind::kLoop) continue;
      sizes_.push_back(SizeOfAxis(plan_.all, i));
      const bool is_grid = plan_.axes[i].kind == AxisKind::kGrid;
      axes_.push_back(is_grid ? trace_.Tile(sizes_[i], rng_.OneIn(8) ? 1 : 0) : trace_.ReductionAxis(sizes_[i]));
      if (is_grid) grid_.push_back(axes_.back());
    }
  }

  Value Load(size_t tensor, AxisRef loop = {}) const {
    std::vector<IndexArg> indices;
    for (const size_t axis : plan_.tensors[tensor].axes) {
      indices.emplace_back(plan_.axes[axis].kind == AxisKind::kLoop ? loop : axes_[axis]);
    }
    return trace_.Load(trace_.Tensor(plan_.tensors[tensor].name), indices);
  }

  void LoadData() {
    for (const size_t tensor : plan_.data) {
      const DType dtype = plan_.tensors[tensor].dtype;
      const double bound = IsFloat(dtype) ? kLargestInput : static_cast<double>(kLargestIntegerInput);
      pool_.push_back({.value = Load(tensor), .low = dtype == DType::kBool ? 0 : -bound, .high = bound});
    }
    if (!plan_.lookup.empty()) {
      const Value position = Load(plan_.lookup[0]);
      const TensorRef table = trace_.Tensor(plan_.tensors[plan_.lookup[1]].name);
      pool_.push_back({.value = trace_.Load(table, {position}), .low = -kLargestInput, .high = kLargestInput});
    }
    const size_t axis = static_cast<size_t>(rng_.Below(static_cast<int64_t>(axes_.size())));
    pool_.push_back({.value = trace_.Index(axes_[axis]), .low = 0, .high = static_cast<double>(sizes_[axis].value)});
    pool_.push_back({.value = trace_.Scalar("alpha"), .low = -1, .high = 1});
  }

  void Step() {
    if (options_.control_flow && rng_.OneIn(12)) return Keep(RegionStep());
    if (rng_.OneIn(4)) return Keep(ReductionStep());
    // The latest term is used more often, which makes chains of operations.
    Terms pool = pool_;
    pool.insert(pool.end(), 2, pool_.back());
    Keep(terms_.Pointwise(pool));
  }

  std::optional<Term> ReductionStep() {
    const Term& term = rng_.Pick(pool_);
    for (size_t i = grid_.size(); i < axes_.size(); ++i) {
      if (term.HasAxis(axes_[i].id)) return terms_.Reduction(term, axes_[i], sizes_[i].value);
    }
    return std::nullopt;
  }

  std::optional<Term> RegionStep() {
    const Term& x = rng_.Pick(pool_);
    switch (rng_.Below(3)) {
      case 0:
        return regions_.Branch(x, trace_.Scalar("count") > static_cast<int>(rng_.Below(4)));
      case 1:
        return regions_.Repeat(x);
      default:
        return regions_.Helper(x, rng_.Pick(pool_));
    }
  }

  LoopInput MakeLoopInput(size_t tensor) const {
    const std::vector<size_t>& axes = plan_.tensors[tensor].axes;
    const auto loop = std::find_if(axes.begin(), axes.end(),
                                   [this](size_t axis) { return plan_.axes[axis].kind == AxisKind::kLoop; });
    return {.extent = SizeOfAxis(tensor, *loop), .load = [this, tensor](AxisRef axis) { return Load(tensor, axis); }};
  }

  void WalkTensor() {
    const LoopInput input = MakeLoopInput(plan_.walked[0]);
    if (rng_.OneIn(2)) return Keep(regions_.OnlineSum(input, grid_));
    Terms usable;
    for (const Term& term : pool_) {
      const bool is_of_grid = std::none_of(axes_.begin() + static_cast<std::ptrdiff_t>(grid_.size()), axes_.end(),
                                           [&](AxisRef axis) { return term.HasAxis(axis.id); });
      if (is_of_grid) usable.push_back(term);
    }
    for (const Term& term : regions_.Accumulate(input, grid_, usable)) pool_.push_back(term);
  }

  void MultiplyTensors() {
    for (const size_t axis : plan_.tensors[plan_.factors[0]].axes) {
      if (plan_.axes[axis].kind != AxisKind::kReduction) continue;
      const Value a = Load(plan_.factors[0]);
      const Value b = Load(plan_.factors[1]);
      const Value product = trace_.Dot(a, b, axes_[axis]);
      return Keep(regions_.ScaledDot(product, sizes_[axis].value));
    }
    Keep(regions_.DotProduct(MakeLoopInput(plan_.factors[0]), MakeLoopInput(plan_.factors[1]), {grid_[0], grid_[1]}));
  }

  void Keep(const std::optional<Term>& term) {
    if (term.has_value()) pool_.push_back(*term);
  }

  void Store(const Term& term, std::map<int, Tolerance>* tolerances) {
    std::vector<size_t> along;
    for (size_t i = 0; i < axes_.size(); ++i) {
      if (i < grid_.size() || term.HasAxis(axes_[i].id)) along.push_back(i);
    }
    rng_.Shuffle(&along);
    std::vector<Size> sizes;
    std::vector<IndexArg> indices;
    for (const size_t i : along) {
      sizes.push_back(sizes_[i]);
      indices.emplace_back(axes_[i]);
    }
    DType dtype = term.value.dtype();
    if (IsFloat(dtype)) dtype = rng_.Pick(std::vector<DType>{DType::kF32, DType::kF32, DType::kF16, DType::kBF16});
    const TensorRef out = trace_.Output(Cat("out", tolerances->size()), sizes, dtype);
    trace_.Store(out, indices, term.value);
    (*tolerances)[out.id] = TermTolerance(term, dtype);
  }

  static Tolerance TermTolerance(const Term& term, DType dtype) {
    if (!IsFloat(dtype) || term.exact()) return {};
    const double unit = dtype == DType::kF16 ? 0x1p-10 : dtype == DType::kBF16 ? 0x1p-7 : 0x1p-23;
    return {.absolute = 2 * term.error + 0x1p-24, .relative = 2 * unit};
  }

  const Plan& plan_;
  const RandomKernelOptions& options_;
  Trace& trace_;
  Rng& rng_;
  TermMaker terms_;
  RegionMaker regions_;
  std::vector<Size> sizes_;    // of axes_
  std::vector<AxisRef> axes_;  // of the grid and the reductions, as planned
  std::vector<AxisRef> grid_;
  Terms pool_;
};

}  // namespace

RandomKernel MakeRandomKernel(uint64_t seed, const RandomKernelOptions& options) {
  Rng rng(seed);
  RandomKernel kernel = {.seed = seed};
  const Plan plan = Planner(&rng, options).Make();
  const bool symbolic = options.dynamic_shapes && rng.OneIn(3);
  kernel.scalars = {{"alpha", static_cast<float>(rng.Real(-1, 1))}, {"count", static_cast<double>(rng.Below(4))}};
  TraceInputs inputs = {.kernel_name = Cat("random_", seed),
                        .scalars = {{"alpha", DType::kF32}, {"count", DType::kI32}},
                        .scalar_values = kernel.scalars};
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    kernel.inputs.push_back(RandomArray(plan.tensors[i], &rng));
    inputs.tensors.push_back(Describe(plan.tensors[i], kernel.inputs[i], static_cast<int>(i), symbolic));
  }
  Trace trace(std::move(inputs));
  KernelTracer(plan, options, &trace, &rng).Run(&kernel.tolerances);
  absl::StatusOr<DeviceIr> ir = trace.Finish();
  if (!ir.ok()) {
    std::fprintf(stderr, "random kernel %llu: %s\n", static_cast<unsigned long long>(seed),
                 ir.status().ToString().c_str());
    std::abort();
  }
  kernel.ir = *std::move(ir);
  return kernel;
}

}  // namespace telemetry::worker::ir
