#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/codegen/config.h"
#include "worker/codegen/config_parameter.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::codegen {

struct Target;

// The valid configs of a space whose constraints connect its parameters, numbered from 0. Immutable; safe to share
// between threads.
class ConfigEnumeration {
 public:
  virtual ~ConfigEnumeration() = default;
  virtual int64_t size() const = 0;
  // Requires 0 <= index < size().
  virtual Config At(int64_t index) const = 0;
  // Returns INVALID_ARGUMENT if a config of the parameters' values violates a constraint.
  virtual absl::Status Check(const Config& config) const = 0;
};

// The typed search space of one kernel. Helion's keys have the same meaning as in Helion:
//   block_sizes            for each grid or loop axis without a fixed block, in the order of the axes
//   reduction_loops        for each reduction axis: None (the axis is held at once) or the chunk size. If two axes
//                          cannot both be walked in chunks in one kernel, the second is held at once in any case
//   loop_orders            [a permutation of the grid's axes], slowest first
//   l2_groupings           [n]: n consecutive tiles of the second-to-last grid axis run before the last axis advances
//                          (1: off)
//   num_stages             only in kernels with dots in loops: the number of tiles that shared memory holds of each
//                          operand that a loop loads for tensor cores; all but one are prefetched (1: no prefetch).
//                          Has no effect in OpenCL or for dots that do not use tensor cores
//   num_warps              warps of a thread block
//   pid_type               'flat', 'persistent_blocked' or 'persistent_interleaved'
//   range_unroll_factors   for each loop axis (0: the compiler decides)
//   load_eviction_policies for each load: '', 'first' or 'last'. Has no effect in OpenCL or for loads that are
//                          copied to shared memory
//   indexing               for each load and store: 'pointer'
// One key is Triton's:
//   num_ctas               thread blocks of the cluster that works on one tile. Only in kernels with reductions and
//                          without dots. Values above 1 need CUDA and sm_90 or later
// Four keys are this project's own:
//   store_eviction_policies for each store: '' or 'first' (the stored cache line is evicted first). Has no effect in
//                          OpenCL
//   overlap_dots           only in kernels with a loop that computes an operand of one dot from the sums of another:
//                          True runs the second dot of each iteration during the code between the dots of the next
//                          one. Has an effect only with wgmma and num_stages above 1
//   producer_warp          only in kernels whose single loop multiplies two loads of f16 or bf16 that TMA can copy:
//                          True adds a warp that copies the operands with TMA. Has an effect only with wgmma and
//                          num_stages above 1. A persistent grid then has as many blocks as shared memory has room for
//   vector_widths          for each load and store: the most elements that one instruction moves
class ConfigSpace {
 public:
  // Returns a space of any parameters, each with a single value (index -1). Its configs are those of the enumeration,
  // which includes the config of all defaults.
  static ConfigSpace Of(std::vector<ConfigParameter> parameters, std::shared_ptr<const ConfigEnumeration> enumeration);

  const std::vector<ConfigParameter>& parameters() const { return parameters_; }
  // Returns the config of all defaults, which compiles and runs on the smallest supported device.
  Config Default() const;
  // Sets missing keys to their defaults and orders the keys. INVALID_ARGUMENT for an unknown or repeated key, a value
  // out of range, a list of the wrong length, or a violated constraint; the message names the key, the value and the
  // allowed values.
  absl::StatusOr<Config> Normalize(const Config& config) const;
  // Null: every combination of the parameters' values is valid, except for constraints of single parameters.
  const ConfigEnumeration* enumeration() const { return enumeration_.get(); }
  // Returns one line of text for each parameter.
  std::string DebugString() const;

 private:
  friend ConfigSpace ConfigSpaceFor(const ir::DeviceIr& ir);
  friend ConfigSpace ConfigSpaceFor(const ir::DeviceIr& ir, const Target& target);
  std::vector<ConfigParameter> parameters_;
  std::vector<int64_t> fixed_blocks_;
  std::shared_ptr<const ConfigEnumeration> enumeration_;
};

// Returns the space for any target: every value is supported by at least one target.
ConfigSpace ConfigSpaceFor(const ir::DeviceIr& ir);
// Returns the space for one target. Excludes the values that Generate() rejects for this target at any size, and values
// of overlap_dots and producer_warp without effect.
ConfigSpace ConfigSpaceFor(const ir::DeviceIr& ir, const Target& target);

}  // namespace telemetry::worker::codegen
