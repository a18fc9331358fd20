#include "worker/codegen/config_parameter.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "absl/strings/numbers.h"
#include "proto/record/python_repr.h"
#include "proto/record/strings.h"

namespace telemetry::worker::codegen {
namespace {

using record::Cat;
using record::Json;
using Kind = ConfigParameter::Kind;

std::optional<int64_t> AsInteger(const Json& value) {
  int64_t number = 0;
  if (value.kind != Json::Kind::kNumber || !absl::SimpleAtoi(value.text, &number)) return std::nullopt;
  return number;
}

bool IsPermutation(const Json& value, int64_t count) {
  if (value.kind != Json::Kind::kArray || static_cast<int64_t>(value.items.size()) != count) return false;
  std::vector<bool> seen(static_cast<size_t>(count), false);
  for (const Json& item : value.items) {
    const std::optional<int64_t> index = AsInteger(item);
    if (!index || *index < 0 || *index >= count || seen[static_cast<size_t>(*index)]) return false;
    seen[static_cast<size_t>(*index)] = true;
  }
  return true;
}

}  // namespace

bool Allows(const ConfigParameter& parameter, const Json& value) {
  if (value.is_null()) return parameter.optional;
  switch (parameter.kind) {
    case Kind::kPowerOfTwo:
    case Kind::kInteger: {
      const std::optional<int64_t> number = AsInteger(value);
      if (!number || *number < parameter.low || *number > parameter.high) return false;
      return parameter.kind == Kind::kInteger || (*number & (*number - 1)) == 0;
    }
    case Kind::kBoolean:
      return value.kind == Json::Kind::kTrue || value.kind == Json::Kind::kFalse;
    case Kind::kChoice:
      return std::find(parameter.choices.begin(), parameter.choices.end(), value) != parameter.choices.end();
    case Kind::kPermutation:
      return IsPermutation(value, parameter.low);
  }
  return false;
}

std::string AllowedText(const ConfigParameter& parameter) {
  std::string text;
  switch (parameter.kind) {
    case Kind::kPowerOfTwo:
      text = Cat("a power of two from ", parameter.low, " to ", parameter.high);
      break;
    case Kind::kInteger:
      text = Cat("an integer from ", parameter.low, " to ", parameter.high);
      break;
    case Kind::kBoolean:
      text = "True or False";
      break;
    case Kind::kChoice:
      text = "one of ";
      for (size_t i = 0; i < parameter.choices.size(); ++i) {
        if (i > 0) text += ", ";
        record::AppendRepr(parameter.choices[i], &text);
      }
      break;
    case Kind::kPermutation:
      text = Cat("a permutation of 0 to ", parameter.low - 1);
      break;
  }
  if (parameter.optional) text += ", or None";
  return text;
}

}  // namespace telemetry::worker::codegen
