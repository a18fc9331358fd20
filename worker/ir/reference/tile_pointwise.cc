#include <cmath>

#include "worker/ir/half.h"
#include "worker/ir/reference/tile.h"

namespace telemetry::worker::ir::reference {
namespace {

using device::DType;

// An operand in the layout of the result. Copies the elements only if their layout differs.
class BroadcastOperand {
 public:
  BroadcastOperand(const TilePtr& tile, const TileShape& shape) : tile_(tile) {
    if (tile->axes != shape.axes) copy_ = Broadcast(*tile, shape);
  }
  const double* data() const { return copy_.data.empty() ? tile_->data.data() : copy_.data.data(); }

 private:
  TilePtr tile_;
  Tile copy_;
};

struct Result {
  const TileShape& shape;
  const std::vector<TilePtr>& operands;
  std::vector<double>* out;

  template <typename Function>
  void Unary(Function function) const {
    const BroadcastOperand a(operands[0], shape);
    const double* x = a.data();
    double* to = out->data();
    for (size_t i = 0; i < out->size(); ++i) to[i] = function(x[i]);
  }
  template <typename Function>
  void Binary(Function function) const {
    const BroadcastOperand a(operands[0], shape);
    const BroadcastOperand b(operands[1], shape);
    const double* x = a.data();
    const double* y = b.data();
    double* to = out->data();
    for (size_t i = 0; i < out->size(); ++i) to[i] = function(x[i], y[i]);
  }
};

// Applies an arithmetic function. Integers wrap.
template <typename Function>
void Arithmetic(DType dtype, const Result& result, Function function) {
  if (IsInteger(dtype)) {
    result.Binary([function, dtype](double x, double y) {
      return Wrap(dtype, function(IntegerBits(dtype, x), IntegerBits(dtype, y)));
    });
  } else {
    result.Binary([function](double x, double y) { return function(x, y); });
  }
}

double Maximum(double x, double y) { return x > y || std::isnan(x) ? x : y; }
double Minimum(double x, double y) { return x < y || std::isnan(x) ? x : y; }

bool BinaryOp(Op op, DType dtype, const Result& result) {
  switch (op) {
    case Op::kAdd:
      Arithmetic(dtype, result, [](auto x, auto y) { return x + y; });
      return true;
    case Op::kSub:
      Arithmetic(dtype, result, [](auto x, auto y) { return x - y; });
      return true;
    case Op::kMul:
      Arithmetic(dtype, result, [](auto x, auto y) { return x * y; });
      return true;
    case Op::kDiv:
      result.Binary([](double x, double y) { return x / y; });
      return true;
    case Op::kMaximum:
      result.Binary(Maximum);
      return true;
    case Op::kMinimum:
      result.Binary(Minimum);
      return true;
    default:
      return false;
  }
}

bool LogicalOp(Op op, const Result& result) {
  switch (op) {
    case Op::kEq:
      result.Binary([](double x, double y) { return x == y ? 1.0 : 0.0; });
      return true;
    case Op::kNe:
      result.Binary([](double x, double y) { return x != y ? 1.0 : 0.0; });
      return true;
    case Op::kLt:
      result.Binary([](double x, double y) { return x < y ? 1.0 : 0.0; });
      return true;
    case Op::kLe:
      result.Binary([](double x, double y) { return x <= y ? 1.0 : 0.0; });
      return true;
    case Op::kGt:
      result.Binary([](double x, double y) { return x > y ? 1.0 : 0.0; });
      return true;
    case Op::kGe:
      result.Binary([](double x, double y) { return x >= y ? 1.0 : 0.0; });
      return true;
    case Op::kAnd:
      result.Binary([](double x, double y) { return x != 0 && y != 0 ? 1.0 : 0.0; });
      return true;
    case Op::kOr:
      result.Binary([](double x, double y) { return x != 0 || y != 0 ? 1.0 : 0.0; });
      return true;
    case Op::kNot:
      result.Unary([](double x) { return x != 0 ? 0.0 : 1.0; });
      return true;
    default:
      return false;
  }
}

bool ExponentialOp(Op op, const Result& result) {
  switch (op) {
    case Op::kExp:
      result.Unary([](double x) { return std::exp(x); });
      return true;
    case Op::kExp2:
      result.Unary([](double x) { return std::exp2(x); });
      return true;
    case Op::kLog:
      result.Unary([](double x) { return std::log(x); });
      return true;
    case Op::kLog2:
      result.Unary([](double x) { return std::log2(x); });
      return true;
    case Op::kSqrt:
      result.Unary([](double x) { return std::sqrt(x); });
      return true;
    case Op::kRsqrt:
      result.Unary([](double x) { return 1 / std::sqrt(x); });
      return true;
    case Op::kSigmoid:
      result.Unary([](double x) { return 1 / (1 + std::exp(-x)); });
      return true;
    default:
      return false;
  }
}

bool OtherFunctionOp(Op op, DType dtype, const Result& result) {
  switch (op) {
    case Op::kNeg:
      if (IsInteger(dtype)) {
        result.Unary([dtype](double x) { return Wrap(dtype, 0 - IntegerBits(dtype, x)); });
      } else {
        result.Unary([](double x) { return -x; });
      }
      return true;
    case Op::kAbs:
      if (IsInteger(dtype)) {
        result.Unary([dtype](double x) { return x < 0 ? Wrap(dtype, 0 - IntegerBits(dtype, x)) : x; });
      } else {
        result.Unary([](double x) { return std::abs(x); });
      }
      return true;
    case Op::kTanh:
      result.Unary([](double x) { return std::tanh(x); });
      return true;
    case Op::kErf:
      result.Unary([](double x) { return std::erf(x); });
      return true;
    case Op::kSin:
      result.Unary([](double x) { return std::sin(x); });
      return true;
    case Op::kCos:
      result.Unary([](double x) { return std::cos(x); });
      return true;
    default:
      return false;
  }
}

void Convert(DType dtype, const Result& result) {
  // Floats are only rounded when they are narrowed: the reference computes f32 in double.
  if (dtype == DType::kF32 && IsFloat(result.operands[0]->dtype)) {
    result.Unary([](double x) { return x; });
  } else {
    const DType from = result.operands[0]->dtype;
    result.Unary([dtype, from](double x) { return ConvertTo(dtype, from, x); });
  }
}

void Where(const Result& result) {
  const BroadcastOperand condition(result.operands[0], result.shape);
  const BroadcastOperand then(result.operands[1], result.shape);
  const BroadcastOperand otherwise(result.operands[2], result.shape);
  for (size_t i = 0; i < result.out->size(); ++i) {
    (*result.out)[i] = condition.data()[i] != 0 ? then.data()[i] : otherwise.data()[i];
  }
}

}  // namespace

Tile Pointwise(Op op, DType dtype, const TileShape& shape, const std::vector<TilePtr>& operands) {
  Tile tile = {.dtype = dtype, .axes = shape.axes, .sizes = shape.sizes};
  tile.data.resize(static_cast<size_t>(shape.element_count()));
  const Result result = {.shape = shape, .operands = operands, .out = &tile.data};
  if (op == Op::kConvert) {
    Convert(dtype, result);
  } else if (op == Op::kWhere) {
    Where(result);
  } else if (!BinaryOp(op, dtype, result) && !LogicalOp(op, result) && !ExponentialOp(op, result)) {
    OtherFunctionOp(op, dtype, result);
  }
  return tile;
}

}  // namespace telemetry::worker::ir::reference
