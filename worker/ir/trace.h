#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::ir {

class Trace;

// A value in the kernel that is being traced: the elements of a tile, or a scalar. Cheap to copy. It belongs to its
// Trace and to the region (loop body, branch) that made it, and may be used in regions inside that one. Arithmetic on
// it adds nodes:
//
//   Value y = exp(x - x_max) / sum;      // -, / also accept numbers
//
// A mistake (values of two traces, a dot over an axis that one operand lacks) makes an invalid value and is the error
// that Trace::Finish returns. Values computed from an invalid value are invalid as well.
class Value {
 public:
  Value() = default;
  bool valid() const { return trace_ != nullptr; }
  // Returns the dtype and the axes. An invalid value is f32 and has no axes.
  device::DType dtype() const;
  const std::vector<int>& shape() const;
  // Rounds to the dtype (f16, bf16), or converts to it.
  Value To(device::DType dtype) const;

 private:
  friend class Trace;
  Value(Trace* trace, int graph, int node) : trace_(trace), graph_(graph), node_(node) {}

  Trace* trace_ = nullptr;
  int graph_ = -1;
  int node_ = -1;
};

// An operand: a value or a number.
class Operand {
 public:
  Operand(Value value) : value_(value), is_value_(true) {}     // NOLINT(google-explicit-constructor)
  Operand(double number) : number_(number) {}                  // NOLINT(google-explicit-constructor)
  Operand(int number) : number_(number), is_integer_(true) {}  // NOLINT(google-explicit-constructor)

 private:
  friend class Trace;
  Value value_;
  double number_ = 0;
  bool is_integer_ = false;
  bool is_value_ = false;
};

// A tensor of a trace, as an index into DeviceIr; -1: invalid.
struct TensorRef {
  int id = -1;
};
// An axis of a trace, as an index into DeviceIr; -1: invalid.
struct AxisRef {
  int id = -1;
};

// The index of one dimension: an axis, an i32 value (gather), or an integer.
using IndexArg = std::variant<AxisRef, Value, int64_t>;

// The value of a compile-time parameter.
using Constant = std::variant<bool, int64_t, double, std::string, device::DType>;

// The properties of the arguments that are known when a kernel is traced.
struct TraceInputs {
  std::string kernel_name;
  std::vector<HostTensor> tensors;
  std::vector<ScalarParameter> scalars;
  std::map<std::string, double> scalar_values;  // the results of SpecializeScalar
  std::map<std::string, Constant> constants;
};

// The source location of a call, for use as a default argument. It replaces std::source_location, which clang has only
// from version 16 on.
class CallSite {
 public:
  static constexpr CallSite current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return CallSite(file, line);
  }
  constexpr const char* file_name() const { return file_; }
  constexpr int line() const { return line_; }

 private:
  constexpr CallSite(const char* file, int line) : file_(file), line_(line) {}
  const char* file_;
  int line_;
};

// A recorder of the operations that the C++ function of a kernel applies to symbolic tiles. For use by one thread.
//
//   absl::Status Softmax(Trace& t) {
//     TensorRef x = t.Tensor("x");
//     TensorRef out = t.OutputLike("out", x);
//     AxisRef m = t.Tile(t.SizeOf(x, 0));
//     AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
//     Value v = t.Load(x, {m, n}).To(DType::kF32);
//     Value e = exp(v - t.AMax(v, n));
//     t.Store(out, {m, n}, e / t.Sum(e, n));
//     return absl::OkStatus();
//   }
//
// Nodes are in the order in which C++ evaluates the calls. C++ does not define which operand of an expression is
// evaluated first: give the loads of one expression names of their own, so that the graph is the same with every
// compiler.
class Trace {
 public:
  using Location = CallSite;

  explicit Trace(TraceInputs inputs);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // Arguments and outputs.
  TensorRef Tensor(const std::string& name);
  // Returns a scalar argument. If the call fixes its value (a constant of that name), returns the constant: it is no
  // argument of the code.
  Value Scalar(const std::string& name, Location at = Location::current());
  template <typename T>
  T Constexpr(const std::string& name) {
    const Constant* constant = FindConstant(name);
    if (constant != nullptr && std::holds_alternative<T>(*constant)) return std::get<T>(*constant);
    Fail(absl::InvalidArgumentError("constexpr parameter '" + name + "' is missing or of another type"));
    return T();
  }
  const HostTensor& TensorInfo(TensorRef tensor) const;
  int Rank(TensorRef tensor) const { return static_cast<int>(TensorInfo(tensor).sizes.size()); }
  Size SizeOf(TensorRef tensor, int dimension) const;
  // Returns the value as a number. The trace then holds for this value only.
  int64_t Specialize(const Size& size);
  double SpecializeScalar(const std::string& name);
  // Adds a dense tensor that the host allocates before the launch.
  TensorRef Output(const std::string& name, std::vector<Size> sizes, device::DType dtype);
  TensorRef OutputLike(const std::string& name, TensorRef tensor);

  // Axes. Those of the grid come first, before any computation.
  AxisRef Tile(const Size& extent, int64_t fixed_block = 0);
  AxisRef ReductionAxis(const Size& extent);

  // Memory.
  Value Load(TensorRef tensor, const std::vector<IndexArg>& indices, Location at = Location::current());
  void Store(TensorRef tensor, const std::vector<IndexArg>& indices, Value value, Location at = Location::current());

  Value Full(const std::vector<AxisRef>& axes, double value, device::DType dtype, Location at = Location::current());
  Value Index(AxisRef axis, Location at = Location::current());
  Value TileBegin(AxisRef axis, Location at = Location::current());
  Value TileEnd(AxisRef axis, Location at = Location::current());

  Value Pointwise(Op op, const std::vector<Operand>& operands, Location at = Location::current());
  Value Where(Value condition, Operand then, Operand otherwise, Location at = Location::current());

  // Reductions and dots. They mask the elements of their inputs beyond the end of the axis.
  Value Sum(Value value, AxisRef axis, Location at = Location::current());
  Value Mean(Value value, AxisRef axis, Location at = Location::current());
  Value AMax(Value value, AxisRef axis, Location at = Location::current());
  Value AMin(Value value, AxisRef axis, Location at = Location::current());
  Value Prod(Value value, AxisRef axis, Location at = Location::current());
  Value ArgMax(Value value, AxisRef axis, Location at = Location::current());
  Value Dot(Value a, Value b, AxisRef axis, Location at = Location::current());
  Value Dot(Value a, Value b, AxisRef axis, Value accumulator, Location at = Location::current());

  // Control flow. Values from outside that a body uses are captured. A loop passes `carried` to the first round of its
  // body and the results of each round to the next one; the results of the last round are returned.
  struct ForOptions {
    int64_t fixed_block = 0;  // 0: the config chooses
    Value end;                // i32 scalar; invalid: the extent
  };
  using Carried = std::vector<Value>;
  using LoopBody = std::function<Carried(AxisRef axis, const Carried& carried)>;
  Carried For(const Size& extent, const Carried& carried, const LoopBody& body, ForOptions options,
              Location at = Location::current());
  Carried For(const Size& extent, const Carried& carried, const LoopBody& body, Location at = Location::current());
  Carried If(Value condition, const std::function<Carried()>& then, const std::function<Carried()>& otherwise,
             Location at = Location::current());
  Carried While(const Carried& carried, const std::function<Value(const Carried&)>& condition,
                const std::function<Carried(const Carried&)>& body, Location at = Location::current());
  // Calls a function that becomes a function of its own in the generated code. `function` is traced anew at each call.
  Value Call(const std::string& name, const std::vector<Value>& arguments,
             const std::function<Value(const std::vector<Value>&)>& function, Location at = Location::current());

  // Applies a pointwise op in the trace of the operands. The operators call it. They have no location and use the
  // latest one.
  static Value Apply(Op op, const std::vector<Operand>& operands);

  // Records an error, if there was none before.
  void Fail(absl::Status status);
  // Closes the root graph, rolls its reductions (roll.h) and verifies the IR. Returns the first error, if there was
  // one. FAILED_PRECONDITION: it was called before.
  absl::StatusOr<DeviceIr> Finish();

 private:
  friend class Value;
  class State;

  const Constant* FindConstant(const std::string& name) const;

  std::unique_ptr<State> state_;
};

Value operator+(const Operand& a, const Operand& b);
Value operator-(const Operand& a, const Operand& b);
Value operator*(const Operand& a, const Operand& b);
Value operator/(const Operand& a, const Operand& b);
Value operator-(const Value& a);
Value operator<(const Operand& a, const Operand& b);
Value operator<=(const Operand& a, const Operand& b);
Value operator>(const Operand& a, const Operand& b);
Value operator>=(const Operand& a, const Operand& b);
Value operator==(const Operand& a, const Operand& b);
Value operator!=(const Operand& a, const Operand& b);
Value operator&&(const Value& a, const Value& b);
Value operator||(const Value& a, const Value& b);
Value operator!(const Value& a);
Value maximum(const Operand& a, const Operand& b);
Value minimum(const Operand& a, const Operand& b);
Value abs(const Value& a);
Value exp(const Value& a);
Value exp2(const Value& a);
Value log(const Value& a);
Value log2(const Value& a);
Value sqrt(const Value& a);
Value rsqrt(const Value& a);
Value sigmoid(const Value& a);
Value tanh(const Value& a);
Value erf(const Value& a);
Value sin(const Value& a);
Value cos(const Value& a);

}  // namespace telemetry::worker::ir
