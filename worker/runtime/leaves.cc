#include "worker/runtime/leaves.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/runtime/reserved_names.h"

namespace telemetry::worker::runtime {

using device::Device;
using record::Cat;

namespace {

// Returns the items of a list or tuple; null for any other argument, and if there are no items.
const Arguments* AsSequence(const Argument& argument) {
  if (const List* list = argument.As<List>()) return list->items.get();
  const Tuple* tuple = argument.As<Tuple>();
  return tuple == nullptr ? nullptr : tuple->items.get();
}

// Visits one argument: calls `on_leaf` for a leaf, and `on_item` for each item of a container with its part of the
// name, which is an index, a map's key or a field's name. The leaf of a ConstExpr is its value.
template <typename OnLeaf, typename OnItem>
void Descend(const Argument& argument, const OnLeaf& on_leaf, const OnItem& on_item) {
  const auto items = [&](const Arguments* arguments) {
    for (size_t i = 0; arguments != nullptr && i < arguments->size(); ++i) on_item((*arguments)[i], i);
  };
  const auto entries = [&](const auto* named) {
    if (named == nullptr) return;
    for (const auto& [name, value] : *named) on_item(value, name);
  };
  if (const Arguments* sequence = AsSequence(argument)) {
    items(sequence);
  } else if (const Map* map = argument.As<Map>()) {
    entries(map->entries.get());
  } else if (const Struct* value = argument.As<Struct>()) {
    entries(value->fields.get());
  } else {
    on_leaf(argument);
    if (const FunctionRef* function = argument.As<FunctionRef>()) items(function->captures.get());
  }
}

void Collect(const Argument& argument, Leaves* leaves) {
  Descend(
      argument,
      [leaves](const Argument& leaf) {
        if (const Tensor* tensor = leaf.As<Tensor>()) {
          leaves->tensors.push_back(tensor);
        } else if (const ConstExpr* constant = leaf.As<ConstExpr>()) {
          leaves->constants.push_back(constant->value.get());
        } else {
          (leaf.is_number() ? leaves->scalars : leaves->constants).push_back(&leaf);
        }
      },
      [leaves](const Argument& item, const auto&) { Collect(item, leaves); });
}

// Returns a part of a name with all characters that are invalid in identifiers replaced by underscores.
std::string AsIdentifierPart(std::string part) {
  std::replace_if(
      part.begin(), part.end(), [](char c) { return !absl::ascii_isalnum(static_cast<unsigned char>(c)); }, '_');
  return part;
}
std::string AsIdentifierPart(size_t index) { return std::to_string(index); }
// Returns a name for a number: "minus7" for -7, because names with two underscores are reserved.
std::string NumberPart(std::string text) {
  if (text.starts_with('-')) text.replace(0, 1, "minus");
  return AsIdentifierPart(std::move(text));
}
std::string AsIdentifierPart(const MapKey& key) {
  struct Part {
    std::string operator()(const std::string& text) const { return AsIdentifierPart(text); }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(int64_t value) const { return NumberPart(Cat(value)); }
    std::string operator()(double value) const { return NumberPart(Cat(value)); }
    std::string operator()(const MapKey::Items& items) const {
      std::string part;
      for (const MapKey& item : items) part += Cat(part.empty() ? "" : "_", AsIdentifierPart(item));
      return part;
    }
  };
  return std::visit(Part{}, key.value());
}

void CollectNames(const Argument& argument, const std::string& name, LeafNames* names) {
  Descend(
      argument,
      [&](const Argument& leaf) {
        const bool is_tensor = leaf.As<Tensor>() != nullptr;
        (is_tensor ? names->tensors : leaf.is_number() ? names->scalars : names->constants).push_back(name);
      },
      [&](const Argument& item, const auto& part) {
        CollectNames(item, Cat(name, "_", AsIdentifierPart(part)), names);
      });
}

// Returns the device of the first tensor, or the first device, depth first.
const std::shared_ptr<Device>* FirstDevice(const Argument& argument) {
  const std::shared_ptr<Device>* found = nullptr;
  Descend(
      argument,
      [&found](const Argument& leaf) {
        if (found != nullptr) return;
        const Tensor* tensor = leaf.As<Tensor>();
        found = tensor != nullptr ? &tensor->device : leaf.As<std::shared_ptr<Device>>();
        if (found != nullptr && *found == nullptr) found = nullptr;
      },
      [&found](const Argument& item, const auto&) {
        if (found == nullptr) found = FirstDevice(item);
      });
  return found;
}

}  // namespace

Leaves CollectLeaves(const Signature& signature, absl::Span<const Argument> arguments) {
  Leaves leaves;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (signature.parameters()[i].kind == ParameterKind::kConstexpr) {
      const ConstExpr* constant = arguments[i].As<ConstExpr>();
      leaves.constants.push_back(constant == nullptr ? &arguments[i] : constant->value.get());
    } else {
      Collect(arguments[i], &leaves);
    }
  }
  return leaves;
}

absl::StatusOr<LeafNames> NameLeaves(const Signature& signature, absl::Span<const Argument> arguments) {
  LeafNames names;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Parameter& parameter = signature.parameters()[i];
    if (parameter.kind == ParameterKind::kConstexpr) {
      names.constants.push_back(parameter.name);
    } else {
      CollectNames(arguments[i], parameter.name, &names);
    }
  }
  std::set<std::string_view> seen;
  for (const auto* part : {&names.tensors, &names.scalars, &names.constants}) {
    for (const std::string& name : *part) {
      RETURN_IF_ERROR(CheckName("a part of the arguments", name));
      if (seen.insert(name).second) continue;
      return absl::InvalidArgumentError(
          Cat("two parts of the arguments have the name '", name, "' in the code; rename a parameter or a key"));
    }
  }
  return names;
}

absl::StatusOr<std::shared_ptr<Device>> FindDevice(absl::Span<const Argument> arguments) {
  for (const Argument& argument : arguments) {
    if (const std::shared_ptr<Device>* found = FirstDevice(argument); found != nullptr) return *found;
  }
  return absl::InvalidArgumentError("no device in the arguments: pass at least one tensor that is on a device");
}

absl::Status CheckDevices(const Leaves& leaves, const Device& device) {
  for (const Tensor* tensor : leaves.tensors) {
    if (tensor->device.get() == &device) continue;
    return absl::InvalidArgumentError(
        Cat("the kernel runs on ", device.id(), ", but ", tensor->ToString(), " is not on that device; copy it there"));
  }
  return absl::OkStatus();
}

}  // namespace telemetry::worker::runtime
