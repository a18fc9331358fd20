#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/spec/expression.h"
#include "worker/spec/value.h"

namespace telemetry::worker::spec {

// The operations of an expression.
enum class Op : uint8_t {
  kConstant,       // `value`
  kVariable,       // the variable `index`
  kList,           // items
  kSubscript,      // list, index
  kComprehension,  // item, list, condition (-1: none); assigns the variable `index`
  kConditional,    // condition, value, other value
  kAnd,
  kOr,
  kNot,
  kNegate,
  kPlus,
  kInvert,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kModulo,
  kPower,
  kBitAnd,
  kBitOr,
  kBitXor,
  kShiftLeft,
  kShiftRight,
  kEqual,
  kUnequal,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kIn,
  kNotIn,
  kCall,  // the function `index`, arguments
};

// One operation. Operands are indexes of nodes.
struct ExpressionNode {
  Op op = Op::kConstant;
  uint32_t position = 0;  // byte offset in the text
  int index = 0;
  Value value;
  std::vector<int> operands;
};

struct Expression::Tree {
  std::string text;
  std::vector<ExpressionNode> nodes;
  int root = 0;
  int locals = 0;         // variables of comprehensions; they are numbered after the names
  bool is_whole = false;  // HasOnlyWholeOperations (whole_numbers.h)
  std::vector<int> variables;
  ValueArena constants;
};

// The functions that expressions can call.
enum class Callee {
  kAbs,
  kCeil,
  kFloat,
  kFloor,
  kInt,
  kLen,
  kList,
  kLog2,
  kMax,
  kMin,
  kPow,
  kRange,
  kRound,
  kSqrt,
  kStr,
  kSum
};

}  // namespace telemetry::worker::spec
