#include "worker/spec/read_parameters.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::worker::spec {
namespace {

using record::Cat;

// Words that cannot name a parameter, because expressions give them another meaning.
constexpr std::array<std::string_view, 12> kReserved = {"and", "or", "not",  "in",    "if",   "else",
                                                        "for", "is", "True", "False", "true", "false"};

bool IsIdentifier(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && is_letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

absl::Status CheckName(const JsonMember& member, const std::string& name, const Specification& spec) {
  if (!IsIdentifier(name)) {
    return member.Error(Cat("'", name, "' is not a name: parameters become macros, so use letters, digits and _"));
  }
  if (std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end() ||
      std::find(kExtraNames.begin(), kExtraNames.end(), name) != kExtraNames.end()) {
    return member.Error(Cat("'", name, "' is a word of the expression language"));
  }
  for (const Parameter& parameter : spec.parameters) {
    if (parameter.name == name) return member.Error(Cat("two parameters have the name '", name, "'"));
  }
  return absl::OkStatus();
}

// Returns the list of values: an array, or an expression that gives a list.
absl::StatusOr<Value> ListOf(const JsonMember& values, ValueArena* arena) {
  if (!values.is_text()) {
    if (!values.exists()) return values.Text().status();
    const absl::StatusOr<Value> list = arena->FromJson(values.json());
    return list.ok() ? list : values.At(list.status());
  }
  const absl::StatusOr<Expression> expression = Expression::Compile(values.json().text, {});
  if (!expression.ok()) return values.At(expression.status());
  Evaluation evaluation;
  const absl::StatusOr<Value> list = expression->Evaluate({}, &evaluation);
  if (!list.ok()) return values.At(list.status());
  // The result belongs to the evaluation and to the expression's text.
  const absl::StatusOr<Value> copy = arena->FromJson(list->ToJson());
  return copy.ok() ? copy : values.At(copy.status());
}

bool HasType(const Value& value, std::string_view type) {
  if (type == "int" || type == "uint")
    return value.kind() == Value::Kind::kInteger || value.kind() == Value::Kind::kBool;
  if (type == "float") return value.is_number();
  if (type == "bool") return value.is_whole() && (value.integer() == 0 || value.integer() == 1);
  return value.is_text();
}

absl::Status CheckValues(const JsonMember& member, const std::string& type, const ValueList& values) {
  if (values.empty()) return member.Error("the list is empty");
  if (values.size() > SpecificationLimits::kValues) {
    return member.Error(Cat(values.size(), " values; the limit is ", SpecificationLimits::kValues));
  }
  std::unordered_set<std::string> seen;
  for (const Value& value : values) {
    if (!HasType(value, type)) return member.Error(Cat("the value ", value.ToString(), " is not of the type ", type));
    if (!seen.insert(value.ToString()).second) return member.Error(Cat("the value ", value.ToString(), " is repeated"));
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> DefaultOf(const JsonMember& member, const ValueList& values, ValueArena* arena) {
  if (!member.exists()) return 0;
  const absl::StatusOr<Value> value = arena->FromJson(member.json());
  if (!value.ok()) return member.At(value.status());
  const auto found =
      std::find_if(values.begin(), values.end(), [&](const Value& other) { return value->Equals(other); });
  if (found == values.end()) return member.Error(Cat(value->ToString(), " is not one of the values"));
  return static_cast<size_t>(found - values.begin());
}

absl::StatusOr<Parameter> ReadParameter(const JsonMember& member, Specification* spec) {
  RETURN_IF_ERROR(member.CheckObject());
  Parameter parameter;
  ASSIGN_OR_RETURN(parameter.name, member["Name"].Text());
  RETURN_IF_ERROR(CheckName(member["Name"], parameter.name, *spec));
  ASSIGN_OR_RETURN(const std::string type, member["Type"].Text());
  if (type != "int" && type != "uint" && type != "float" && type != "bool" && type != "string") {
    return member["Type"].Error(Cat("unknown type '", type, "'; known are int, uint, float, bool and string"));
  }
  const JsonMember values = member["Values"];
  ASSIGN_OR_RETURN(const Value list, ListOf(values, spec->arena.get()));
  parameter.values = list.is_list() ? list.list() : ValueList{list};
  RETURN_IF_ERROR(CheckValues(values, type, parameter.values));
  ASSIGN_OR_RETURN(parameter.default_index, DefaultOf(member["Default"], parameter.values, spec->arena.get()));
  return parameter;
}

}  // namespace

absl::Status ReadProblemSize(const JsonMember& problem_size, Specification* spec) {
  if (!problem_size.exists()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const Value size, ListOf(problem_size, spec->arena.get()));
  spec->problem_size = size.is_list() ? size.list() : ValueList{size};
  if (spec->problem_size.empty() || spec->problem_size.size() > 3) {
    return problem_size.Error("expected one to three sizes");
  }
  for (const Value& item : spec->problem_size) {
    if (!item.is_whole() || item.integer() <= 0) return problem_size.Error("the sizes must be positive integers");
  }
  return absl::OkStatus();
}

absl::Status ReadParameters(const JsonMember& parameters, Specification* spec) {
  if (!parameters.exists()) return parameters.Error("missing; expected an array");
  ASSIGN_OR_RETURN(const std::vector<JsonMember> items, parameters.Items());
  if (items.empty()) return parameters.Error("there is no parameter to tune");
  if (items.size() > SpecificationLimits::kParameters) {
    return parameters.Error(Cat(items.size(), " parameters; the limit is ", SpecificationLimits::kParameters));
  }
  for (const JsonMember& item : items) {
    ASSIGN_OR_RETURN(Parameter parameter, ReadParameter(item, spec));
    spec->parameters.push_back(std::move(parameter));
  }
  return absl::OkStatus();
}

absl::Status ReadConstraints(const JsonMember& conditions, Specification* spec) {
  ASSIGN_OR_RETURN(const std::vector<JsonMember> items, conditions.Items());
  if (items.size() > SpecificationLimits::kConstraints) {
    return conditions.Error(Cat(items.size(), " conditions; the limit is ", SpecificationLimits::kConstraints));
  }
  const std::vector<std::string> names = spec->names();
  for (const JsonMember& item : items) {
    const JsonMember text = item["Expression"];
    ASSIGN_OR_RETURN(const std::string expression, text.Text());
    absl::StatusOr<Expression> compiled = Expression::Compile(expression, names);
    if (!compiled.ok()) return text.At(compiled.status());
    spec->constraints.push_back({.expression = *std::move(compiled), .path = text.path()});
  }
  return absl::OkStatus();
}

}  // namespace telemetry::worker::spec
