#include "worker/spec/value.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "proto/base/status_macros.h"
#include "proto/record/numbers.h"
#include "proto/record/python_repr.h"
#include "proto/record/strings.h"

namespace telemetry::worker::spec {
namespace {

constexpr int kMostNesting = 8;

bool SameItems(const ValueList& a, const ValueList& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Value& x, const Value& y) { return x.Equals(y); });
}

// Returns a number as JSON writes it.
std::string RealText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return record::FloatRepr(value);
}

}  // namespace

Value Value::Bool(bool value) { return Value(Kind::kBool, value ? 1 : 0); }

Value Value::Integer(int64_t value) { return Value(Kind::kInteger, value); }

Value Value::Real(double value) {
  Value result(Kind::kReal, 0);
  result.real_ = value;
  return result;
}

Value Value::Text(const std::string* text) {
  Value result(Kind::kText, 0);
  result.text_ = text;
  return result;
}

Value Value::List(const ValueList* list) {
  Value result(Kind::kList, 0);
  result.list_ = list;
  return result;
}

bool Value::Truth() const {
  switch (kind_) {
    case Kind::kBool:
    case Kind::kInteger:
      return integer_ != 0;
    case Kind::kReal:
      return real_ != 0;
    case Kind::kText:
      return !text_->empty();
    case Kind::kList:
      return !list_->empty();
  }
  return false;
}

bool Value::Equals(const Value& other) const {
  if (is_whole() && other.is_whole()) return integer_ == other.integer_;
  if (is_number() && other.is_number()) return real() == other.real();
  if (is_text() && other.is_text()) return *text_ == *other.text_;
  return is_list() && other.is_list() && SameItems(*list_, *other.list_);
}

record::Json Value::ToJson() const {
  switch (kind_) {
    case Kind::kBool:
      return record::Json::Bool(integer_ != 0);
    case Kind::kInteger:
      return record::Json::Integer(integer_);
    case Kind::kReal:
      return record::Json::Number(RealText(real_));
    case Kind::kText:
      return record::Json::String(*text_);
    case Kind::kList:
      break;
  }
  record::Json array = record::Json::Array();
  for (const Value& item : *list_) array.items.push_back(item.ToJson());
  return array;
}

std::string Value::ToString() const {
  std::string text;
  record::AppendRepr(ToJson(), &text);
  return text;
}

std::string_view KindName(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::kBool:
      return "bool";
    case Value::Kind::kInteger:
      return "int";
    case Value::Kind::kReal:
      return "float";
    case Value::Kind::kText:
      return "string";
    case Value::Kind::kList:
      return "list";
  }
  return "";
}

Value ValueArena::AddText(std::string text) { return Value::Text(&texts_.emplace_back(std::move(text))); }

Value ValueArena::AddList(ValueList list) { return Value::List(&lists_.emplace_back(std::move(list))); }

void ValueArena::Clear() {
  if (!texts_.empty()) texts_.clear();
  if (!lists_.empty()) lists_.clear();
}

absl::StatusOr<Value> ValueArena::FromJson(const record::Json& json) { return FromJson(json, 0); }

absl::StatusOr<Value> ValueArena::FromJson(const record::Json& json, int depth) {
  using Kind = record::Json::Kind;
  switch (json.kind) {
    case Kind::kTrue:
      return Value::Bool(true);
    case Kind::kFalse:
      return Value::Bool(false);
    case Kind::kNumber:
      return ParseNumber(json.text);
    case Kind::kString:
      return AddText(json.text);
    case Kind::kArray: {
      if (depth == kMostNesting) {
        return absl::InvalidArgumentError(record::Cat("lists are nested deeper than ", kMostNesting));
      }
      ValueList list;
      for (const record::Json& item : json.items) {
        ASSIGN_OR_RETURN(const Value value, FromJson(item, depth + 1));
        list.push_back(value);
      }
      return AddList(std::move(list));
    }
    default:
      return absl::InvalidArgumentError("expected a boolean, a number, a string or a list");
  }
}

absl::StatusOr<Value> ParseNumber(std::string_view text) {
  const absl::string_view view = record::AbslView(text);
  int64_t integer = 0;
  if (absl::SimpleAtoi(view, &integer)) return Value::Integer(integer);
  if (text.find_first_not_of("+-0123456789") == std::string_view::npos) {
    return absl::InvalidArgumentError(record::Cat("the integer ", text, " does not fit 64 bits"));
  }
  double real = 0;
  if (absl::SimpleAtod(view, &real)) return Value::Real(real);
  return absl::InvalidArgumentError(record::Cat("'", text, "' is not a number"));
}

}  // namespace telemetry::worker::spec
