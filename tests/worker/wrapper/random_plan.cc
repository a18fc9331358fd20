#include "tests/worker/wrapper/random_plan.h"

#include <algorithm>
#include <string>
#include <utility>

#include "tests/worker/ir/rng.h"
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
};

class PlanMaker {
 public:
  explicit PlanMaker(uint64_t seed) : rng_(seed), b_("random_" + std::to_string(seed)) {}

  absl::StatusOr<Plan> Make() {
    for (int i = 0; i < 3; ++i) AddInput();
    const int64_t steps = rng_.Between(4, 16);
    for (int64_t i = 0; i < steps; ++i) Step();
    Call();
    const int64_t outputs = rng_.Between(1, 3);
    for (int64_t i = 0; i < outputs; ++i) {
      const Matrix& given = rng_.Pick(matrices_);
      if (given.is_own) b_.Output(given.buffer);
    }
    b_.Output(last_made_);
    return b_.Finish();
  }

 private:
  void AddInput() {
    const std::vector<int64_t> sides = {8, 16, 32};
    Matrix input{.m = rng_.Pick(sides), .n = rng_.Pick(sides), .is_own = false};
    if (rng_.OneIn(3)) input.dtype = DType::kF16;
    input.is_dense = !rng_.OneIn(4);
    const int64_t row = input.is_dense ? input.n : input.n + 3;
    input.buffer = b_.Input("in" + std::to_string(matrices_.size()), input.dtype, {input.m, input.n}, {row, 1});
    input.root = input.buffer.id;
    matrices_.push_back(input);
  }

  void Step() {
    switch (rng_.Below(9)) {
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
      default:
        return Call();
    }
  }

  void View() {
    const Matrix base = rng_.Pick(matrices_);
    if (!base.is_dense) return;
    Matrix view = base;
    switch (rng_.Below(3)) {
      case 0:  // transposed
        std::swap(view.m, view.n);
        view.buffer = b_.View(base.buffer, {view.m, view.n}, {1, base.n}, 0);
        view.is_dense = false;
        break;
      case 1:  // another shape
        view.m = base.m / 2;
        view.n = base.n * 2;
        view.buffer = b_.View(base.buffer, {view.m, view.n}, {view.n, 1}, 0);
        break;
      default:  // the lower half
        view.m = base.m / 2;
        view.buffer = b_.View(base.buffer, {view.m, view.n}, {view.n, 1}, view.m * view.n);
    }
    if (view.m >= 2) matrices_.push_back(view);
  }

  void End() {
    const Matrix ended = rng_.Pick(matrices_);
    if (!ended.is_own || ended.root == last_made_.id) return;
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
    if (rng_.OneIn(4)) return Made(x, b_.CallExternAllocating(kernel, arguments)[0]);
    Made(x, rng_.OneIn(3) ? b_.CallExtern(kernel, arguments, options)[0] : b_.Call(kernel, arguments, options)[0]);
  }

  void Norm(const Matrix& x) {
    const std::string name = "w" + std::to_string(next_weight_++);
    const BufferRef weight = b_.Input(name, x.dtype, {x.n});
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

  void Made(const Matrix& like, BufferRef buffer) {
    last_made_ = buffer;
    const auto is_known = [&](const Matrix& matrix) { return matrix.buffer.id == buffer.id; };
    if (std::any_of(matrices_.begin(), matrices_.end(), is_known)) return;
    matrices_.push_back({.buffer = buffer, .m = like.m, .n = like.n, .dtype = like.dtype, .root = buffer.id});
  }

  ir::Rng rng_;
  PlanBuilder b_;
  std::vector<Matrix> matrices_;
  BufferRef last_made_;
  BufferRef unused_;
  int next_weight_ = 0;
  int next_rows_ = 0;
};

}  // namespace

absl::StatusOr<Plan> RandomPlan(uint64_t seed) { return PlanMaker(seed).Make(); }

std::vector<Tensor> MakeInputs(const Plan& plan, uint64_t seed) {
  ir::Rng rng(seed);
  std::vector<Tensor> inputs;
  for (const int id : plan.inputs) {
    const PlanBuffer& input = plan.buffer(id);
    ir::HostArray array = ir::HostArray::Strided(input.dtype, input.sizes, input.strides);
    std::vector<double> values(static_cast<size_t>(array.element_count()));
    // Indices of rows: some of them are out of range.
    for (double& value : values) {
      value = input.dtype == DType::kI32 ? static_cast<double>(rng.Between(-1, 9)) : rng.Real(-1, 2);
    }
    array.SetRowMajor(values);
    inputs.push_back(Tensor::OnHost(std::move(array)));
  }
  return inputs;
}

}  // namespace telemetry::worker::wrapper
