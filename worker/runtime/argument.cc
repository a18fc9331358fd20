#include "worker/runtime/argument.h"

#include <algorithm>
#include <compare>
#include <utility>

namespace telemetry::worker::runtime {
namespace {

// A null pointer equals empty contents.
template <typename T>
bool SameContents(const std::shared_ptr<const T>& a, const std::shared_ptr<const T>& b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr) return (a == nullptr ? *b : *a).empty();
  return *a == *b;
}

struct TypeNamer {
  std::string operator()(const Argument::None&) const { return "None"; }
  std::string operator()(const Tensor&) const { return "tensor"; }
  std::string operator()(bool) const { return "bool"; }
  std::string operator()(int64_t) const { return "int"; }
  std::string operator()(double) const { return "float"; }
  std::string operator()(const std::string&) const { return "str"; }
  std::string operator()(device::DType) const { return "dtype"; }
  std::string operator()(const std::shared_ptr<device::Device>&) const { return "device"; }
  std::string operator()(const FunctionRef&) const { return "function"; }
  std::string operator()(const List&) const { return "list"; }
  std::string operator()(const Tuple&) const { return "tuple"; }
  std::string operator()(const Map&) const { return "map"; }
  std::string operator()(const Struct& value) const { return value.type_name; }
  std::string operator()(const Opaque& value) const { return value.type_name; }
  std::string operator()(const ConstExpr& value) const { return "ConstExpr of " + value.value->TypeName(); }
};

// Orders values of one kind.
struct IsLess {
  template <typename T>
  bool operator()(const T& a, const T& b) const {
    return a < b;
  }
  bool operator()(double a, double b) const { return std::strong_order(a, b) < 0; }
  bool operator()(const MapKey::Items& a, const MapKey::Items& b) const {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  }
  template <typename T, typename U>
  bool operator()(const T&, const U&) const {
    return false;  // not called: kinds are compared first
  }
};

Arguments WithoutConstExprsIn(const std::shared_ptr<const Arguments>& items) {
  Arguments plain;
  if (items == nullptr) return plain;
  for (const Argument& item : *items) plain.push_back(item.WithoutConstExprs());
  return plain;
}

}  // namespace

bool operator<(const MapKey& a, const MapKey& b) {
  if (a.value_.index() != b.value_.index()) return a.value_.index() < b.value_.index();
  return std::visit(IsLess{}, a.value_, b.value_);
}

ConstExpr::ConstExpr(bool value) : value(std::make_shared<const Argument>(value)) {}
ConstExpr::ConstExpr(int value) : value(std::make_shared<const Argument>(value)) {}
ConstExpr::ConstExpr(int64_t value) : value(std::make_shared<const Argument>(value)) {}
ConstExpr::ConstExpr(double value) : value(std::make_shared<const Argument>(value)) {}
ConstExpr::ConstExpr(const char* text) : value(std::make_shared<const Argument>(text)) {}
ConstExpr::ConstExpr(std::string text) : value(std::make_shared<const Argument>(std::move(text))) {}
ConstExpr::ConstExpr(device::DType dtype) : value(std::make_shared<const Argument>(dtype)) {}
bool operator==(const ConstExpr& a, const ConstExpr& b) { return *a.value == *b.value; }

bool operator==(const FunctionRef& a, const FunctionRef& b) {
  return a.identity == b.identity && SameContents(a.captures, b.captures);
}
bool operator==(const List& a, const List& b) { return SameContents(a.items, b.items); }
bool operator==(const Tuple& a, const Tuple& b) { return SameContents(a.items, b.items); }
bool operator==(const Map& a, const Map& b) { return SameContents(a.entries, b.entries); }
bool operator==(const Struct& a, const Struct& b) {
  return a.type_name == b.type_name && SameContents(a.fields, b.fields);
}

Argument Argument::OfList(Arguments items) {
  Argument argument;
  argument.value_ = List{std::make_shared<const Arguments>(std::move(items))};
  return argument;
}

Argument Argument::OfTuple(Arguments items) {
  Argument argument;
  argument.value_ = Tuple{std::make_shared<const Arguments>(std::move(items))};
  return argument;
}

Argument Argument::OfMap(Map::Entries entries) {
  Argument argument;
  argument.value_ = Map{std::make_shared<const Map::Entries>(std::move(entries))};
  return argument;
}

Argument Argument::OfStruct(std::string type_name, Struct::Fields fields) {
  Argument argument;
  argument.value_ = Struct{std::move(type_name), std::make_shared<const Struct::Fields>(std::move(fields))};
  return argument;
}

Argument Argument::OfFunction(std::string name, const void* identity, Arguments captures, std::any callable) {
  Argument argument;
  argument.value_ = FunctionRef{.name = std::move(name),
                                .identity = identity,
                                .captures = std::make_shared<const Arguments>(std::move(captures)),
                                .callable = std::move(callable)};
  return argument;
}

bool Argument::is_number() const {
  return As<bool>() != nullptr || As<int64_t>() != nullptr || As<double>() != nullptr;
}

double Argument::number() const {
  if (const double* value = As<double>()) return *value;
  if (const int64_t* value = As<int64_t>()) return static_cast<double>(*value);
  const bool* value = As<bool>();
  return value != nullptr && *value ? 1 : 0;
}

device::DType Argument::scalar_dtype() const {
  if (As<double>() != nullptr) return device::DType::kF32;
  const int64_t* value = As<int64_t>();
  return value != nullptr && *value != static_cast<int32_t>(*value) ? device::DType::kI64 : device::DType::kI32;
}

Argument Argument::WithoutConstExprs() const {
  if (const auto* constant = As<ConstExpr>()) return *constant->value;
  if (const auto* list = As<List>()) return OfList(WithoutConstExprsIn(list->items));
  if (const auto* tuple = As<Tuple>()) return OfTuple(WithoutConstExprsIn(tuple->items));
  if (const auto* function = As<FunctionRef>()) {
    return OfFunction(function->name, function->identity, WithoutConstExprsIn(function->captures), function->callable);
  }
  if (const auto* map = As<Map>(); map != nullptr && map->entries != nullptr) {
    Map::Entries plain;
    for (const auto& [key, value] : *map->entries) plain.emplace(key, value.WithoutConstExprs());
    return OfMap(std::move(plain));
  }
  if (const auto* value = As<Struct>(); value != nullptr && value->fields != nullptr) {
    Struct::Fields plain;
    for (const auto& [name, field] : *value->fields) plain.emplace_back(name, field.WithoutConstExprs());
    return OfStruct(value->type_name, std::move(plain));
  }
  return *this;
}

std::string Argument::TypeName() const { return std::visit(TypeNamer{}, value_); }

}  // namespace telemetry::worker::runtime
