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
#include "worker/kernel/tensor.h"

namespace telemetry::worker {

class Argument;
using Arguments = std::vector<Argument>;

// What an argument can be beside a tensor, a number, a string, a dtype or a device. All share what they hold, so that
// copies are cheap, and none of it changes.

// An unknown kind of value that a caller wants to pass. Kernels refuse it by the name of its type.
struct Opaque {
  std::string type_name;
  friend bool operator==(const Opaque&, const Opaque&) = default;
};

// A function that is passed to a kernel: which one it is, and the values that it captured. The traced function knows
// what `callable` holds.
struct FunctionRef {
  std::string name;                // for people
  const void* identity = nullptr;  // tells functions apart
  std::shared_ptr<const Arguments> captures;
  std::any callable;
  friend bool operator==(const FunctionRef& a, const FunctionRef& b);
};

struct List {
  std::shared_ptr<const Arguments> items;
  friend bool operator==(const List& a, const List& b);
};

struct Tuple {
  std::shared_ptr<const Arguments> items;
  friend bool operator==(const Tuple& a, const Tuple& b);
};

struct Map {
  using Entries = std::map<std::string, Argument>;
  std::shared_ptr<const Entries> entries;
  friend bool operator==(const Map& a, const Map& b);
};

struct Struct {
  using Fields = std::vector<std::pair<std::string, Argument>>;
  std::string type_name;
  std::shared_ptr<const Fields> fields;
  friend bool operator==(const Struct& a, const Struct& b);
};

// One argument of a kernel. Thread-safe in the manner of values: shared freely, each copy changed by one thread.
class Argument {
 public:
  using None = std::monostate;
  using Value = std::variant<None, Tensor, bool, int64_t, double, std::string, DType, std::shared_ptr<Device>,
                             FunctionRef, List, Tuple, Map, Struct, Opaque>;

  Argument() = default;                                                    // None
  Argument(Tensor tensor) : value_(std::move(tensor)) {}                   // NOLINT(google-explicit-constructor)
  Argument(bool value) : value_(value) {}                                  // NOLINT(google-explicit-constructor)
  Argument(int value) : value_(int64_t{value}) {}                          // NOLINT(google-explicit-constructor)
  Argument(int64_t value) : value_(value) {}                               // NOLINT(google-explicit-constructor)
  Argument(double value) : value_(value) {}                                // NOLINT(google-explicit-constructor)
  Argument(const char* text) : value_(std::string(text)) {}                // NOLINT(google-explicit-constructor)
  Argument(std::string text) : value_(std::move(text)) {}                  // NOLINT(google-explicit-constructor)
  Argument(DType dtype) : value_(dtype) {}                                 // NOLINT(google-explicit-constructor)
  Argument(std::shared_ptr<Device> device) : value_(std::move(device)) {}  // NOLINT(google-explicit-constructor)
  Argument(Opaque opaque) : value_(std::move(opaque)) {}                   // NOLINT(google-explicit-constructor)

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
  // A number's value; of bools 0 and 1, of anything else 0.
  double number() const;

  // "tensor", "int", "float", "bool", "str", "list", ...; of structs and of opaque values the name of their type.
  std::string TypeName() const;

  // Deep, and of tensors as Tensor's; 1, 1.0 and true all differ. NaN equals no value, itself included.
  friend bool operator==(const Argument& a, const Argument& b) { return a.value_ == b.value_; }

 private:
  Value value_;
};

}  // namespace telemetry::worker
