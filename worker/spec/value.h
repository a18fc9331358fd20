#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/record/json.h"

namespace telemetry::worker::spec {

class Value;
using ValueList = std::vector<Value>;

// A value of an expression or of a tuning parameter. Trivially copyable: texts and lists belong to a ValueArena, which
// must outlive the value.
class Value {
 public:
  enum class Kind : uint8_t { kBool, kInteger, kReal, kText, kList };

  Value() : Value(Kind::kInteger, 0) {}
  static Value Bool(bool value);
  static Value Integer(int64_t value);
  static Value Real(double value);
  static Value Text(const std::string* text);
  static Value List(const ValueList* list);

  Kind kind() const { return kind_; }
  bool is_number() const { return kind_ <= Kind::kReal; }  // booleans are the numbers 0 and 1
  bool is_whole() const { return kind_ <= Kind::kInteger; }
  bool is_text() const { return kind_ == Kind::kText; }
  bool is_list() const { return kind_ == Kind::kList; }

  // Require the kind that the name says. integer() requires is_whole(), real() requires is_number().
  int64_t integer() const { return integer_; }
  double real() const { return kind_ == Kind::kReal ? real_ : static_cast<double>(integer_); }
  const std::string& text() const { return *text_; }
  const ValueList& list() const { return *list_; }

  // Returns the truth value as in Python: false for 0, "" and [].
  bool Truth() const;
  // Compares as Python's ==: numbers by value, lists item by item, values of different kinds are unequal.
  bool Equals(const Value& other) const;
  // Returns the value as Python's repr prints it.
  std::string ToString() const;
  record::Json ToJson() const;

 private:
  Value(Kind kind, int64_t integer) : kind_(kind), integer_(integer) {}

  Kind kind_;
  union {
    int64_t integer_;
    double real_;
    const std::string* text_;
    const ValueList* list_;
  };
};

// Returns "bool", "int", "float", "string" or "list".
std::string_view KindName(Value::Kind kind);

// The owner of texts and lists. Moving it does not invalidate values.
class ValueArena {
 public:
  Value AddText(std::string text);
  Value AddList(ValueList list);
  void Clear();

  // Converts a boolean, number, string or array. INVALID_ARGUMENT: null, an object, nesting deeper than 8, or an
  // integer outside of 64 bits.
  absl::StatusOr<Value> FromJson(const record::Json& json);

 private:
  absl::StatusOr<Value> FromJson(const record::Json& json, int depth);

  std::deque<std::string> texts_;
  std::deque<ValueList> lists_;
};

// Converts a number's text: an integer of 64 bits, or a floating point number. INVALID_ARGUMENT for any other text.
absl::StatusOr<Value> ParseNumber(std::string_view text);

}  // namespace telemetry::worker::spec
