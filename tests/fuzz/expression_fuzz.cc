// Fuzzes the expressions of specifications: any text is refused with a message or gives a value within its budget.

#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/fuzz.h"
#include "worker/spec/expression.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace telemetry::worker::spec;
  using telemetry::fuzz::Require;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> names = {"x", "list1"};
  const absl::StatusOr<Expression> expression = Expression::Compile(text, names);
  if (!expression.ok()) {
    Require(!expression.status().message().empty(), "an error has a message");
    return 0;
  }
  Require(expression->text() == text, "an expression keeps its text");
  ValueArena arena;
  const std::vector<Value> values = {Value::Integer(3), arena.AddList({Value::Integer(1), Value::Real(2.5)})};
  Evaluation first(100'000);
  const absl::StatusOr<Value> value = expression->Evaluate(values, &first);
  Evaluation second(100'000);
  const absl::StatusOr<Value> again = expression->Evaluate(values, &second);
  Require(value.ok() == again.ok(), "an evaluation is repeatable");
  if (value.ok()) Require(value->ToString() == again->ToString(), "an evaluation gives the same value");
  return 0;
}
