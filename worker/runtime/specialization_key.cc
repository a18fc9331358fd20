#include "worker/runtime/specialization_key.h"

#include <charconv>
#include <cstdint>
#include <string_view>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::worker::runtime {
namespace {

using device::Device;

// Writes one argument recursively. Does not use absl::StrAppend, whose temporary pieces cost more than the digits.
class KeyWriter {
 public:
  KeyWriter(bool static_shapes, std::string* out) : static_shapes_(static_shapes), out_(*out) {}

  // Returns false if the argument contains a value of an unknown kind; unknown() is then its type.
  bool Write(const Argument& argument, bool by_value);
  const std::string& unknown() const { return unknown_; }

 private:
  bool Put(const Argument::None&) { return Text("None"); }
  bool Put(const Tensor& tensor);
  bool Put(bool value) { return Text("bool") && (!by_value_ || Text(value ? "=true" : "=false")); }
  bool Put(int64_t value) {
    if (by_value_) return Text("int=") && Number(value);
    return Text(value == static_cast<int32_t>(value) ? "int" : "int64");
  }
  bool Put(double value) { return Text("float") && (!by_value_ || (Text("=") && Number(value))); }
  bool Put(const std::string& value) { return Text("str(") && Counted(value) && Text(")"); }
  bool Put(device::DType value) { return Text("dtype(") && Text(ShortName(value)) && Text(")"); }
  bool Put(const std::shared_ptr<Device>& device);
  bool Put(const FunctionRef& function);
  bool Put(const List& list) { return Text("list") && Items(list.items.get()); }
  bool Put(const Tuple& tuple) { return Text("tuple") && Items(tuple.items.get()); }
  bool Put(const Map& map);
  bool Put(const Struct& value);
  bool Put(const ConstExpr& value);
  bool Put(const Opaque& value) {
    unknown_ = value.type_name;
    return false;
  }

  bool Items(const Arguments* items);
  bool Key(const MapKey& key);
  bool Key(const std::string& name) { return Counted(name); }
  template <typename KeyOrName>
  bool Entry(const KeyOrName& key, const Argument& value) {
    return Key(key) && Text(":") && Write(value, by_value_) && Text(",");
  }
  void Sizes(const Dimensions& sizes);
  void Bucketed(const Dimensions& sizes);

  bool Text(std::string_view text) {
    out_.append(text);
    return true;
  }
  bool Counted(std::string_view text) { return Number(static_cast<int64_t>(text.size())) && Text(":") && Text(text); }
  template <typename T>
  bool Number(T value) {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;  // for doubles, the shortest exact form
    out_.append(digits, static_cast<size_t>(end - digits));
    return true;
  }

  const bool static_shapes_;
  std::string& out_;
  bool by_value_ = false;
  std::string unknown_;
};

bool KeyWriter::Write(const Argument& argument, bool by_value) {
  by_value_ = by_value;
  return std::visit([this](const auto& value) { return Put(value); }, argument.value());
}

void KeyWriter::Sizes(const Dimensions& sizes) {
  out_.push_back('[');
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i > 0) out_.push_back(',');
    Number(sizes[i]);
  }
  out_.push_back(']');
}

void KeyWriter::Bucketed(const Dimensions& sizes) {
  out_.push_back('[');
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i > 0) out_.push_back(',');
    Text(sizes[i] == 0 ? "0" : sizes[i] == 1 ? "1" : "2+");
  }
  out_.push_back(']');
}

bool KeyWriter::Put(const Tensor& tensor) {
  Text("tensor(");
  Text(ShortName(tensor.dtype));
  Text(",");
  Text(tensor.device_type());
  Text(",");
  if (static_shapes_) {
    Sizes(tensor.sizes);
    Text(",");
    Sizes(tensor.strides);
  } else {
    Bucketed(tensor.sizes);
  }
  return Text(")");
}

bool KeyWriter::Put(const std::shared_ptr<Device>& device) {
  return Text("device(") && Text(device == nullptr ? "cpu" : device->id()) && Text(")");
}

bool KeyWriter::Put(const FunctionRef& function) {
  return Text("function(") && Number(reinterpret_cast<uintptr_t>(function.identity)) && Text(",") &&
         Items(function.captures.get()) && Text(")");
}

bool KeyWriter::Items(const Arguments* items) {
  out_.push_back('[');
  if (items != nullptr) {
    for (const Argument& item : *items) {
      if (!Write(item, by_value_)) return false;
      out_.push_back(',');
    }
  }
  out_.push_back(']');
  return true;
}

// An argument that is always fixed has the same key with and without ConstExpr.
bool KeyWriter::Put(const ConstExpr& value) {
  if (by_value_) return Write(*value.value, true);
  const bool is_written = Text("constexpr(") && Write(*value.value, true) && Text(")");
  by_value_ = false;
  return is_written;
}

bool KeyWriter::Key(const MapKey& key) {
  struct Writer {
    KeyWriter& keys;
    bool operator()(const std::string& text) const { return keys.Counted(text); }
    bool operator()(bool value) const { return keys.Text(value ? "bool=true" : "bool=false"); }
    bool operator()(int64_t value) const { return keys.Text("int=") && keys.Number(value); }
    bool operator()(double value) const { return keys.Text("float=") && keys.Number(value); }
    bool operator()(const MapKey::Items& items) const {
      keys.Text("tuple[");
      for (const MapKey& item : items) {
        keys.Key(item);
        keys.Text(",");
      }
      return keys.Text("]");
    }
  };
  return std::visit(Writer{*this}, key.value());
}

bool KeyWriter::Put(const Map& map) {
  Text("map{");
  if (map.entries != nullptr) {
    for (const auto& [name, value] : *map.entries) {
      if (!Entry(name, value)) return false;
    }
  }
  return Text("}");
}

bool KeyWriter::Put(const Struct& value) {
  Text("struct(");
  Counted(value.type_name);
  Text("){");
  if (value.fields != nullptr) {
    for (const auto& [name, field] : *value.fields) {
      if (!Entry(name, field)) return false;
    }
  }
  return Text("}");
}

}  // namespace

absl::Status WriteSpecializationKey(const Signature& signature, absl::Span<const Argument> arguments,
                                    bool static_shapes, std::string* key) {
  key->clear();
  KeyWriter writer(static_shapes, key);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Parameter& parameter = signature.parameters()[i];
    if (!writer.Write(arguments[i], parameter.kind == ParameterKind::kConstexpr)) {
      return absl::InvalidArgumentError(record::Cat("parameter '", parameter.name, "' holds a value of type ",
                                                    writer.unknown(), ", which no kernel can be specialised for"));
    }
    key->push_back(';');
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> SpecializationKey(const Signature& signature, absl::Span<const Argument> arguments,
                                              bool static_shapes) {
  std::string key;
  RETURN_IF_ERROR(WriteSpecializationKey(signature, arguments, static_shapes, &key));
  return key;
}

}  // namespace telemetry::worker::runtime
