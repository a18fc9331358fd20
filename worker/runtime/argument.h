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

// Arguments by key.
struct Map {
  using Entries = std::map<std::string, Argument>;
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

// One argument of a kernel. Has the thread rules of a value: copies are independent, and one thread may change each
// copy.
class Argument {
 public:
  using None = std::monostate;
  using Value = std::variant<None, Tensor, bool, int64_t, double, std::string, device::DType,
                             std::shared_ptr<device::Device>, FunctionRef, List, Tuple, Map, Struct, Opaque>;

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
  Argument(Opaque opaque) : value_(std::move(opaque)) {}  // NOLINT(google-explicit-constructor)

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
