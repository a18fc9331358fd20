#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/record/json.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::codegen {

// One point of a kernel's search space: an object of Helion's keys, in alphabetical order. Prints and reads as Helion's
// literal, `Config(block_sizes=[32, 32], num_warps=4)`. Immutable once made; safe to share.
class Config {
 public:
  Config() = default;
  explicit Config(record::Json object);
  // INVALID_ARGUMENT: not such a literal (`Config(...)`, `helion.Config(...)`), nor a JSON object.
  static absl::StatusOr<Config> Parse(std::string_view text);

  const record::Json& json() const { return object_; }
  std::string ToString() const;
  // FORMATS.md, Identity: 16 hex digits as a number, as proto/record has it.
  uint64_t id() const;

  friend bool operator==(const Config& a, const Config& b) { return a.ToString() == b.ToString(); }

 private:
  record::Json object_ = record::Json::Object();
};

struct Target;

// One element of a key's value: block_sizes[1] is a parameter of its own.
struct ConfigParameter {
  enum class Kind { kPowerOfTwo, kInteger, kBoolean, kChoice, kPermutation };

  std::string key;  // "block_sizes"
  int index = -1;   // -1: the key holds one value, not a list
  Kind kind = Kind::kInteger;
  int64_t low = 0;  // kPowerOfTwo, kInteger: the range, inclusive. kPermutation: low == high == how many
  int64_t high = 0;
  bool optional = false;              // None is allowed too (reduction_loops: all at once)
  std::vector<record::Json> choices;  // kChoice, in order
  record::Json default_value;
  std::string constraint;  // what else has to hold, for people: "block_sizes[0] * ... <= 1048576"
};

// The typed search space of one kernel on one dialect. Keys that Helion has mean what they mean there:
//   block_sizes            per grid and loop axis without a fixed block, in the order of the axes
//   reduction_loops        per reduction axis: None (held at once) or the chunk
//                          (of two axes that cannot be walked in one kernel, the second is held at once all the same)
//   loop_orders            [permutation of the grid's axes], the first walks slowest
//   l2_groupings           [n]: n tiles along the last axis but one take turns before the last one moves on (1: off)
//   num_stages             of kernels with dots in loops: how many tiles of what a loop loads for tensor cores are in
//                          shared memory, all but one of them copied ahead (1: none ahead); nothing in OpenCL, nor for
//                          dots that tensor cores do not do
//   num_warps, pid_type ('flat', 'persistent_blocked', 'persistent_interleaved')
//   range_unroll_factors   per loop axis (0: the compiler decides)
//   load_eviction_policies per load ('', 'first', 'last'); nothing in OpenCL, nor for what is copied to shared memory
//   indexing               per load and store: 'pointer'
// one that Triton has
//   num_ctas               blocks of a cluster that work on one tile; kernels that reduce, without dots, have it.
//                          Above 1 with CUDA and sm_90 or later only
// and two of this project's own:
//   store_eviction_policies per store ('', 'first': what is stored makes room first); nothing in OpenCL
//   vector_widths          per load and store: the most elements that one instruction moves
class ConfigSpace {
 public:
  const std::vector<ConfigParameter>& parameters() const { return parameters_; }
  // Every default. Compiles and runs on the smallest supported device.
  Config Default() const;
  // Fills in what is missing with defaults and orders the keys. INVALID_ARGUMENT names the key, the value and what is
  // allowed, for an unknown key, a value out of range, a list of another length, or a broken constraint.
  absl::StatusOr<Config> Normalize(const Config& config) const;
  // Every parameter as text, a line each.
  std::string DebugString() const;

 private:
  friend ConfigSpace ConfigSpaceFor(const ir::DeviceIr& ir);
  friend ConfigSpace ConfigSpaceFor(const ir::DeviceIr& ir, const Target& target);
  std::vector<ConfigParameter> parameters_;
  std::vector<int64_t> fixed_blocks_;
};

// What some target can do.
ConfigSpace ConfigSpaceFor(const ir::DeviceIr& ir);
// What this target can do, too: values that Generate refuses for it, whatever the sizes, are not in the space.
ConfigSpace ConfigSpaceFor(const ir::DeviceIr& ir, const Target& target);

}  // namespace telemetry::worker::codegen
