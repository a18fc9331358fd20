#include "tests/worker/wrapper/random_plan.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "tests/worker/ir/rng.h"
#include "worker/device/device.h"
#include "worker/wrapper/plan_builder.h"

namespace telemetry::worker::wrapper {
namespace {

using device::DType;
using runtime::Tensor;

// A matrix of the plan.
struct Matrix {
  BufferRef buffer;
  int64_t m = 0;
  int64_t n = 0;
  DType dtype = DType::kF32;
  bool is_dense = true;
  bool is_own = true;  // not an input
  int root = -1;
  int depth = 0;  // the number of subgraphs around the line that made it
};

class PlanMaker {
 public:
  PlanMaker(uint64_t seed, const RandomPlanOptions& options)
      : options_(options), rng_(seed), b_("random_" + std::to_string(seed)) {}

  absl::StatusOr<Plan> Make() {
    for (int i = 0; i < 3; ++i) AddInput();
    const int64_t steps = rng_.Between(4, 16);
    for (int64_t i = 0; i < steps; ++i) Step();
    if (rng_.OneIn(2)) Conditional();
    Call();
    const int64_t outputs = rng_.Between(1, 3);
    for (int64_t i = 0; i < outputs; ++i) {
      const Matrix& given = rng_.Pick(matrices_);
      if (given.is_own) b_.Output(given.buffer);
    }
    b_.Output(last_made_);
    b_.SetSymbols({{.name = "unit", .min = 1, .max = 1024, .value = options_.unit}});
    return b_.Finish();
  }

 private:
  // Declares that all sizes of a buffer are multiples of the unit.
  BufferRef Scaled(BufferRef buffer, const std::vector<int64_t>& sizes) {
    std::vector<SizeForm> forms;
    for (const int64_t size : sizes) forms.push_back(SizeForm(size / options_.unit) * SizeForm::Symbol(0));
    b_.SetForms(buffer, std::move(forms));
    return buffer;
  }

  BufferRef ScaledView(BufferRef base, const Matrix& view, std::vector<int64_t> strides, int64_t offset) {
    return Scaled(b_.View(base, {view.m, view.n}, std::move(strides), offset), {view.m, view.n});
  }

  void AddInput() {
    const int64_t unit = options_.unit;
    const std::vector<int64_t> sides = {8 * unit, 16 * unit, 32 * unit};
    Matrix input{.m = rng_.Pick(sides), .n = rng_.Pick(sides), .is_own = false};
    if (rng_.OneIn(3)) input.dtype = DType::kF16;
    input.is_dense = !rng_.OneIn(4);
    const int64_t row = input.is_dense ? input.n : input.n + 3;
    input.buffer = b_.Input("in" + std::to_string(matrices_.size()), input.dtype, {input.m, input.n}, {row, 1});
    Scaled(input.buffer, {input.m, input.n});
    input.root = input.buffer.id;
    matrices_.push_back(input);
  }

  void Step() {
    switch (rng_.Below(12)) {
      case 0:
      case 1:
        return View();
      case 2:
        return End();
      case 3:
        unused_ = b_.Allocate("", DType::kF32, {8, rng_.Between(1, 200)});
        return;
      case 4:
        return PutRows();
      case 5:
        return rng_.OneIn(3) ? Subgraph() : Conditional();
      case 6:
        return ScatterElements();
      case 7:
        return Join();
      default:
        return Call();
    }
  }

  void View() {
    const Matrix base = rng_.Pick(matrices_);
    if (!base.is_dense || base.m / options_.unit % 2 != 0) return;
    Matrix view = base;
    switch (rng_.Below(3)) {
      case 0:  // transposed
        std::swap(view.m, view.n);
        view.buffer = ScaledView(base.buffer, view, {1, base.n}, 0);
        view.is_dense = false;
        break;
      case 1:  // another shape
        view.m = base.m / 2;
        view.n = base.n * 2;
        view.buffer = ScaledView(base.buffer, view, {view.n, 1}, 0);
        break;
      default:  // the lower half
        view.m = base.m / 2;
        if (options_.for_programs && view.m * view.n * SizeOf(base.dtype) % device::kViewAlignment != 0) return;
        view.buffer = ScaledView(base.buffer, view, {view.n, 1}, view.m * view.n);
    }
    view.depth = depth_;
    if (view.m >= 2 * options_.unit) matrices_.push_back(view);
  }

  void End() {
    const Matrix ended = rng_.Pick(matrices_);
    const bool is_from_outside = std::any_of(matrices_.begin(), matrices_.end(), [&](const Matrix& matrix) {
      return matrix.buffer.id == ended.root && matrix.depth != depth_;
    });
    if (!ended.is_own || is_from_outside || ended.root == last_made_.id) return;
    rng_.OneIn(3) ? b_.Free({ended.root}) : b_.Release({ended.root});
    std::erase_if(matrices_, [&](const Matrix& matrix) { return matrix.root == ended.root; });
  }

  // Returns a matrix to write that shares no memory with `x` and `y`, if there is one.
  CallOptions Into(const Matrix& x, const Matrix& y) {
    if (!rng_.OneIn(4)) return {};
    for (const Matrix& out : matrices_) {
      const bool fits = out.is_own && out.root == out.buffer.id && out.dtype == x.dtype && out.m == x.m && out.n == x.n;
      if (fits && out.root != x.root && out.root != y.root) return {.into = {out.buffer}};
    }
    return {};
  }

  // Returns another matrix of the same shape and dtype, or the matrix itself.
  Matrix Like(const Matrix& x) {
    std::vector<Matrix> like;
    for (const Matrix& other : matrices_) {
      if (other.m == x.m && other.n == x.n && other.dtype == x.dtype) like.push_back(other);
    }
    return rng_.Pick(like);
  }

  void Call() {
    const Matrix x = rng_.Pick(matrices_);
    const Matrix y = Like(x);
    const bool is_add = rng_.OneIn(2);
    const std::string kernel = is_add ? "add" : rng_.OneIn(2) ? "softmax" : "layer_norm";
    if (kernel == "layer_norm") return Norm(x);
    std::vector<BufferRef> arguments = {x.buffer};
    if (is_add) arguments.push_back(y.buffer);
    const CallOptions options = Into(x, y);
    if (options_.for_programs) return Made(x, b_.Call(kernel, arguments, options)[0]);
    if (rng_.OneIn(4)) return Made(x, b_.CallExternAllocating(kernel, arguments)[0]);
    Made(x, rng_.OneIn(3) ? b_.CallExtern(kernel, arguments, options)[0] : b_.Call(kernel, arguments, options)[0]);
  }

  void Norm(const Matrix& x) {
    const std::string name = "w" + std::to_string(next_weight_++);
    const BufferRef weight = Scaled(b_.Input(name, x.dtype, {x.n}), {x.n});
    const std::vector<BufferRef> arguments = {x.buffer, weight, weight};
    Made(x, rng_.OneIn(2) ? b_.CallExternAllocating("layer_norm", arguments)[0] : b_.Call("layer_norm", arguments)[0]);
  }

  // Writes rows of a matrix with those of another one, if two matrices fit.
  void PutRows() {
    const Matrix target = rng_.Pick(matrices_);
    const Matrix values = rng_.Pick(matrices_);
    const bool can_be_written = target.is_own && target.root == target.buffer.id;
    if (!can_be_written || values.root == target.root || values.n != target.n || values.dtype != target.dtype) return;
    const BufferRef rows = b_.Input("rows" + std::to_string(next_rows_++), DType::kI32, {values.m});
    b_.IndexPut(target.buffer, rows, values.buffer, rng_.OneIn(2));
  }

  // Writes elements of a matrix with those of another one, if two matrices fit.
  void ScatterElements() {
    const Matrix target = rng_.Pick(matrices_);
    const Matrix values = rng_.Pick(matrices_);
    const bool can_be_written = target.is_own && target.root == target.buffer.id;
    if (!can_be_written || values.root == target.root || values.dtype != target.dtype) return;
    if (values.n > target.n && values.m > target.m) return;
    const int dimension = values.n > target.n || (values.m <= target.m && rng_.OneIn(2)) ? 1 : 0;
    const std::vector<Reduction> reductions = {Reduction::kNone, Reduction::kSum, Reduction::kProduct,
                                               Reduction::kMax,  Reduction::kMin, Reduction::kMean};
    const BufferRef places = b_.Input("places" + std::to_string(next_rows_++), DType::kI32, {values.m, values.n});
    const Reduction reduction = rng_.Pick(reductions);
    if (rng_.OneIn(4)) {
      b_.Scatter(target.buffer, dimension, places, 0.75, reduction);
    } else {
      b_.Scatter(target.buffer, dimension, places, values.buffer, reduction);
    }
  }

  // Writes two matrices one behind the other, if they fit.
  void Join() {
    const Matrix x = rng_.Pick(matrices_);
    const Matrix y = rng_.Pick(matrices_);
    const int dimension = x.n == y.n ? 0 : 1;
    if (x.dtype != y.dtype || (dimension == 1 && x.m != y.m)) return;
    Matrix joined = x;
    (dimension == 0 ? joined.m : joined.n) += dimension == 0 ? y.m : y.n;
    Made(joined, b_.Concatenate({x.buffer, y.buffer}, dimension));
  }

  // Returns a predicate: an input of the plan, a view of one, or a sum.
  BufferRef Predicate() {
    const std::string name = "flag" + std::to_string(next_flag_++);
    switch (rng_.Below(4)) {
      case 0:
        return b_.Input(name, DType::kBool, {});
      case 1:
        return b_.Input(name, DType::kI32, {1, 1});
      case 2:
        return b_.View(b_.Input(name, DType::kI32, {1}), {}, {}, 0);
      default: {
        const BufferRef flag = b_.Input(name, DType::kI32, {1, 1});
        return b_.Call("add", {flag, flag})[0];
      }
    }
  }

  // Adds the lines of a subgraph, then those of `last`. Their matrices end with it.
  void Inside(const std::function<void()>& last) {
    const std::vector<Matrix> before = matrices_;
    const BufferRef made_before = last_made_;
    ++depth_;
    const int64_t steps = rng_.Between(0, 4);
    for (int64_t i = 0; i < steps; ++i) Step();
    last();
    --depth_;
    matrices_ = before;
    last_made_ = made_before;
  }

  void Subgraph() {
    if (depth_ == 2) return;
    b_.EnterSubgraph();
    Inside([this] { Call(); });
    b_.ExitSubgraph();
  }

  // Adds a conditional whose branches write the same new matrix, or, without an else, change one that is written.
  void Conditional() {
    if (depth_ == 2) return;
    const Matrix like = rng_.Pick(matrices_);
    Matrix target = {.m = like.m, .n = like.n, .dtype = like.dtype, .depth = depth_};
    const BufferRef predicate = Predicate();
    target.buffer = Scaled(b_.Allocate("", like.dtype, {like.m, like.n}), {like.m, like.n});
    target.root = target.buffer.id;
    const bool has_else = !rng_.OneIn(3);
    const auto write = [&] {
      const Matrix x = Like(like);
      rng_.OneIn(2) ? b_.Call("softmax", {x.buffer}, {.into = {target.buffer}})
                    : b_.Call("add", {x.buffer, Like(like).buffer}, {.into = {target.buffer}});
    };
    if (!has_else) write();
    b_.If(predicate);
    Inside(write);
    if (has_else) {
      b_.Else();
      Inside(write);
    }
    b_.EndIf();
    matrices_.push_back(target);
    last_made_ = target.buffer;
  }

  void Made(const Matrix& like, BufferRef buffer) {
    last_made_ = buffer;
    const auto is_known = [&](const Matrix& matrix) { return matrix.buffer.id == buffer.id; };
    if (std::any_of(matrices_.begin(), matrices_.end(), is_known)) return;
    matrices_.push_back(
        {.buffer = buffer, .m = like.m, .n = like.n, .dtype = like.dtype, .root = buffer.id, .depth = depth_});
  }

  const RandomPlanOptions options_;
  ir::Rng rng_;
  PlanBuilder b_;
  std::vector<Matrix> matrices_;
  BufferRef last_made_;
  BufferRef unused_;
  int next_weight_ = 0;
  int next_rows_ = 0;
  int next_flag_ = 0;
  int depth_ = 0;  // the number of subgraphs that are open
};

// Returns, for each buffer whose elements a kernel uses as indices, the size of the dimension that they index, else 0.
// Kernels do not check such indices: one out of range reads other memory.
std::vector<int64_t> FindIndexedSizes(const Plan& plan) {
  const std::vector<Place> places = ComputePlaces(plan);
  std::vector<int64_t> sizes(plan.buffers.size());
  for (const Line& line : plan.lines) {
    const KernelCall* call = AsKernelCall(line);
    if (call == nullptr || plan.kernel(call->kernel).library == nullptr) continue;
    const PlanKernel& kernel = plan.kernel(call->kernel);
    for (size_t i = 0; i < call->arguments.size(); ++i) {
      const std::string& dimension = kernel.library->tensors[i].indexes;
      if (dimension.empty()) continue;
      sizes[static_cast<size_t>(places[static_cast<size_t>(call->arguments[i])].root)] = kernel.problem.size(dimension);
    }
  }
  return sizes;
}

}  // namespace

absl::StatusOr<Plan> RandomPlan(uint64_t seed, const RandomPlanOptions& options) {
  return PlanMaker(seed, options).Make();
}

std::vector<Tensor> MakeInputs(const Plan& plan, uint64_t seed) {
  ir::Rng rng(seed);
  const std::vector<int64_t> indexed_sizes = FindIndexedSizes(plan);
  std::vector<Tensor> inputs;
  for (const int id : plan.inputs) {
    const PlanBuffer& input = plan.buffer(id);
    ir::HostArray array = ir::HostArray::Strided(input.dtype, input.sizes, input.strides);
    std::vector<double> values(static_cast<size_t>(array.element_count()));
    // Integers are predicates, or indices: those of lines, but not those of kernels, may be out of range.
    const int64_t indexed_size = indexed_sizes[static_cast<size_t>(id)];
    for (double& value : values) {
      if (IsFloat(input.dtype)) {
        value = rng.Real(-1, 2);
      } else if (indexed_size > 0) {
        value = static_cast<double>(rng.Below(indexed_size));
      } else {
        value = static_cast<double>(values.size() == 1 ? rng.Between(0, 1) : rng.Between(-1, 9));
      }
    }
    array.SetRowMajor(values);
    inputs.push_back(Tensor::OnHost(std::move(array)));
  }
  return inputs;
}

}  // namespace telemetry::worker::wrapper
