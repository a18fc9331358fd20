#pragma once

#include <any>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "worker/device/device.h"
#include "worker/device/dtype.h"
#include "worker/runtime/tensor.h"

namespace telemetry::worker::runtime {

class Argument;
using Arguments = std::vector<Argument>;

// The kinds of arguments beside tensors, numbers, strings, dtypes and devices. All of them share their contents, so
// copies are cheap, and the contents are immutable.

// A value of an unknown kind. Kernels reject it with the name of its type.
struct Opaque {
  std::string type_name;
  friend bool operator==(const Opaque&, const Opaque&) = default;
};

// A function that is passed to a kernel: its identity and the values that it captured. The traced function knows the
// type of `callable`.
struct FunctionRef {
  std::string name;                // for people
  const void* identity = nullptr;  // identifies the function
  std::shared_ptr<const Arguments> captures;
  std::any callable;
  friend bool operator==(const FunctionRef& a, const FunctionRef& b);
};

// A list of arguments.
struct List {
  std::shared_ptr<const Arguments> items;
  friend bool operator==(const List& a, const List& b);
};

// A tuple of arguments.
struct Tuple {
  std::shared_ptr<const Arguments> items;
  friend bool operator==(const Tuple& a, const Tuple& b);
};

// A key of a map: a string, a number, a bool, or a tuple of keys. 1, 1.0 and true are different keys.
class MapKey {
 public:
  using Items = std::vector<MapKey>;
  using Value = std::variant<std::string, bool, int64_t, double, Items>;

  MapKey(const char* text) : value_(std::string(text)) {}     // NOLINT(google-explicit-constructor)
  MapKey(std::string text) : value_(std::move(text)) {}       // NOLINT(google-explicit-constructor)
  MapKey(bool value) : value_(value) {}                       // NOLINT(google-explicit-constructor)
  MapKey(int value) : value_(int64_t{value}) {}               // NOLINT(google-explicit-constructor)
  MapKey(int64_t value) : value_(value) {}                    // NOLINT(google-explicit-constructor)
  MapKey(double value) : value_(value == 0 ? 0.0 : value) {}  // NOLINT(google-explicit-constructor)
  static MapKey OfTuple(Items items) { return MapKey(Value(std::move(items))); }

  const Value& value() const { return value_; }

  // Orders keys by kind, then by value; NaN comes last or first by its sign, and equals itself.
  friend bool operator<(const MapKey& a, const MapKey& b);
  friend bool operator==(const MapKey& a, const MapKey& b) { return !(a < b) && !(b < a); }

 private:
  explicit MapKey(Value value) : value_(std::move(value)) {}
  Value value_;
};

// Arguments by key.
struct Map {
  using Entries = std::map<MapKey, Argument>;
  std::shared_ptr<const Entries> entries;
  friend bool operator==(const Map& a, const Map& b);
};

// The fields of a struct in their order.
struct Struct {
  using Fields = std::vector<std::pair<std::string, Argument>>;
  std::string type_name;
  std::shared_ptr<const Fields> fields;
  friend bool operator==(const Struct& a, const Struct& b);
};

// A value that is fixed when the kernel is traced, in this call: kernel->Run({x, ConstExpr(4)}). The traced function
// gets the value, the specialization key contains it, and the code has no argument for it.
struct ConstExpr {
  explicit ConstExpr(bool value);
  explicit ConstExpr(int value);
  explicit ConstExpr(int64_t value);
  explicit ConstExpr(double value);
  explicit ConstExpr(const char* text);
  explicit ConstExpr(std::string text);
  explicit ConstExpr(device::DType dtype);
  std::shared_ptr<const Argument> value;  // never null
  friend bool operator==(const ConstExpr& a, const ConstExpr& b);
};

// One argument of a kernel. Has the thread rules of a value: copies are independent, and one thread may change each
// copy.
class Argument {
 public:
  using None = std::monostate;
  using Value = std::variant<None, Tensor, bool, int64_t, double, std::string, device::DType,
                             std::shared_ptr<device::Device>, FunctionRef, List, Tuple, Map, Struct, Opaque, ConstExpr>;

  Argument() = default;                                      // None
  Argument(Tensor tensor) : value_(std::move(tensor)) {}     // NOLINT(google-explicit-constructor)
  Argument(bool value) : value_(value) {}                    // NOLINT(google-explicit-constructor)
  Argument(int value) : value_(int64_t{value}) {}            // NOLINT(google-explicit-constructor)
  Argument(int64_t value) : value_(value) {}                 // NOLINT(google-explicit-constructor)
  Argument(double value) : value_(value) {}                  // NOLINT(google-explicit-constructor)
  Argument(const char* text) : value_(std::string(text)) {}  // NOLINT(google-explicit-constructor)
  Argument(std::string text) : value_(std::move(text)) {}    // NOLINT(google-explicit-constructor)
  Argument(device::DType dtype) : value_(dtype) {}           // NOLINT(google-explicit-constructor)
  // NOLINTNEXTLINE(google-explicit-constructor)
  Argument(std::shared_ptr<device::Device> device) : value_(std::move(device)) {}
  Argument(Opaque opaque) : value_(std::move(opaque)) {}   // NOLINT(google-explicit-constructor)
  Argument(ConstExpr value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)

  static Argument OfList(Arguments items);
  static Argument OfTuple(Arguments items);
  static Argument OfMap(Map::Entries entries);
  static Argument OfStruct(std::string type_name, Struct::Fields fields);
  static Argument OfFunction(std::string name, const void* identity, Arguments captures = {}, std::any callable = {});

  const Value& value() const { return value_; }
  template <typename T>
  const T* As() const {
    return std::get_if<T>(&value_);
  }
  bool is_none() const { return As<None>() != nullptr; }
  bool is_number() const;
  // Returns a number's value; 0 or 1 for a bool, 0 for any other kind.
  double number() const;
  // Returns the dtype of a number as an argument of code: f32 for floats, i32 for bools and ints, i64 for ints that an
  // i32 cannot hold.
  device::DType scalar_dtype() const;
  // Returns the argument with each ConstExpr in it replaced by its value.
  Argument WithoutConstExprs() const;

  // Returns "tensor", "int", "float", "bool", "str", "list" and so on; for structs and opaque values the name of their
  // type.
  std::string TypeName() const;

  // Compares contents; tensors are compared as in tensor.h. 1, 1.0 and true differ from each other. NaN equals no
  // value, not even itself.
  friend bool operator==(const Argument& a, const Argument& b) { return a.value_ == b.value_; }

 private:
  Value value_;
};

}  // namespace telemetry::worker::runtime
