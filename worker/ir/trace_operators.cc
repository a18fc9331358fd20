#include "worker/ir/trace.h"

namespace telemetry::worker::ir {

Value operator+(const Operand& a, const Operand& b) { return Trace::Apply(Op::kAdd, {a, b}); }
Value operator-(const Operand& a, const Operand& b) { return Trace::Apply(Op::kSub, {a, b}); }
Value operator*(const Operand& a, const Operand& b) { return Trace::Apply(Op::kMul, {a, b}); }
Value operator/(const Operand& a, const Operand& b) { return Trace::Apply(Op::kDiv, {a, b}); }
Value operator-(const Value& a) { return Trace::Apply(Op::kNeg, {a}); }
Value operator<(const Operand& a, const Operand& b) { return Trace::Apply(Op::kLt, {a, b}); }
Value operator<=(const Operand& a, const Operand& b) { return Trace::Apply(Op::kLe, {a, b}); }
Value operator>(const Operand& a, const Operand& b) { return Trace::Apply(Op::kGt, {a, b}); }
Value operator>=(const Operand& a, const Operand& b) { return Trace::Apply(Op::kGe, {a, b}); }
Value operator==(const Operand& a, const Operand& b) { return Trace::Apply(Op::kEq, {a, b}); }
Value operator!=(const Operand& a, const Operand& b) { return Trace::Apply(Op::kNe, {a, b}); }
Value operator&&(const Value& a, const Value& b) { return Trace::Apply(Op::kAnd, {a, b}); }
Value operator||(const Value& a, const Value& b) { return Trace::Apply(Op::kOr, {a, b}); }
Value operator!(const Value& a) { return Trace::Apply(Op::kNot, {a}); }
Value maximum(const Operand& a, const Operand& b) { return Trace::Apply(Op::kMaximum, {a, b}); }
Value minimum(const Operand& a, const Operand& b) { return Trace::Apply(Op::kMinimum, {a, b}); }
Value abs(const Value& a) { return Trace::Apply(Op::kAbs, {a}); }
Value exp(const Value& a) { return Trace::Apply(Op::kExp, {a}); }
Value exp2(const Value& a) { return Trace::Apply(Op::kExp2, {a}); }
Value log(const Value& a) { return Trace::Apply(Op::kLog, {a}); }
Value log2(const Value& a) { return Trace::Apply(Op::kLog2, {a}); }
Value sqrt(const Value& a) { return Trace::Apply(Op::kSqrt, {a}); }
Value rsqrt(const Value& a) { return Trace::Apply(Op::kRsqrt, {a}); }
Value sigmoid(const Value& a) { return Trace::Apply(Op::kSigmoid, {a}); }
Value tanh(const Value& a) { return Trace::Apply(Op::kTanh, {a}); }
Value erf(const Value& a) { return Trace::Apply(Op::kErf, {a}); }
Value sin(const Value& a) { return Trace::Apply(Op::kSin, {a}); }
Value cos(const Value& a) { return Trace::Apply(Op::kCos, {a}); }

}  // namespace telemetry::worker::ir
