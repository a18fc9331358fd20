#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/kernel/argument.h"
#include "worker/kernel/signature.h"

namespace telemetry::worker {

// What is in a call's arguments, depth first in the order of the signature; into containers and the captures of
// functions. Points into the arguments, which have to stay. Small calls need no allocation.
struct Leaves {
  template <typename T>
  using Pointers = absl::InlinedVector<const T*, 8>;

  Pointers<Tensor> tensors;
  Pointers<Argument> scalars;    // numbers that the code takes as arguments
  Pointers<Argument> constants;  // everything else: fixed when the kernel is traced
};

Leaves LeavesOf(const Signature& signature, absl::Span<const Argument> arguments);

// The name of each leaf in the traced function and in the code: that of its parameter, and for what is nested the way
// to it, joined by underscores: "xs_0", "options_scale".
struct LeafNames {
  std::vector<std::string> tensors;
  std::vector<std::string> scalars;
  std::vector<std::string> constants;
};

// INVALID_ARGUMENT: two leaves of one name, or a name that is reserved (reserved_names.h).
absl::StatusOr<LeafNames> LeafNamesOf(const Signature& signature, absl::Span<const Argument> arguments);

// The device of the first tensor on a device, or the first device, in the arguments; depth first. INVALID_ARGUMENT:
// there is none.
absl::StatusOr<std::shared_ptr<Device>> FindDevice(absl::Span<const Argument> arguments);

// INVALID_ARGUMENT: a tensor lies elsewhere than on this device.
absl::Status CheckDevices(const Leaves& leaves, const Device& device);

}  // namespace telemetry::worker
