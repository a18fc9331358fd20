#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/runtime/argument.h"
#include "worker/runtime/signature.h"

namespace telemetry::worker::runtime {

// The tensors and values in a call's arguments, depth first in the order of the signature, including the contents of
// containers and the captures of functions. Holds pointers into the arguments, which must outlive it. Small calls need
// no allocation.
struct Leaves {
  template <typename T>
  using Pointers = absl::InlinedVector<const T*, 8>;

  Pointers<Tensor> tensors;
  Pointers<Argument> scalars;    // numbers that are arguments of the code
  Pointers<Argument> constants;  // all other values, which are fixed when the kernel is traced; values of ConstExprs
};

Leaves CollectLeaves(const Signature& signature, absl::Span<const Argument> arguments);

// The name of each leaf in the traced function and in the code: the name of its parameter, followed for nested values
// by the path, joined with underscores: "xs_0", "options_scale".
struct LeafNames {
  std::vector<std::string> tensors;
  std::vector<std::string> scalars;
  std::vector<std::string> constants;
};

// INVALID_ARGUMENT: two leaves have the same name, or a name is reserved (reserved_names.h).
absl::StatusOr<LeafNames> NameLeaves(const Signature& signature, absl::Span<const Argument> arguments);

// Returns the device of the first tensor on a device, or the first device, in the arguments, depth first.
// INVALID_ARGUMENT: there is none.
absl::StatusOr<std::shared_ptr<device::Device>> FindDevice(absl::Span<const Argument> arguments);

// INVALID_ARGUMENT: a tensor is not on this device.
absl::Status CheckDevices(const Leaves& leaves, const device::Device& device);

}  // namespace telemetry::worker::runtime
