#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/device/device.h"
#include "worker/ir/graph.h"
#include "worker/kernel/leaves.h"

namespace telemetry::worker {

// What one trace holds for beside its specialization key: values that the traced function asked for (Trace::Specialize,
// Trace::SpecializeScalar), which strides are 1 where shapes are not static, and the device that the code is loaded on.
// Which values these are can differ from trace to trace of one key, for the function may ask for more where a value
// makes it take another way. Immutable.
class ExtraKeys {
 public:
  // Of a trace with these arguments. `device` may be null (reference mode); it has to outlive this.
  // INTERNAL: the IR specialises on what is none of the arguments.
  static absl::StatusOr<ExtraKeys> Of(const ir::DeviceIr& ir, const Leaves& leaves, bool static_shapes,
                                      const Device* device);

  // Whether these arguments, whose specialization key is the same, have the same values. Allocates nothing.
  bool Match(const Leaves& leaves) const;

  // "x.size(1)=4096, scale=0.5, opencl:0"
  std::string ToString() const;

 private:
  struct SizeKey {
    size_t tensor = 0;
    size_t dimension = 0;
    int64_t value = 0;
    std::string text;
  };
  struct UnitStrideKey {
    size_t tensor = 0;
    size_t dimension = 0;
    bool is_one = false;
    std::string text;
  };
  struct ScalarKey {
    size_t scalar = 0;
    double value = 0;
    std::string text;
  };

  explicit ExtraKeys(const Device* device) : device_(device) {}
  absl::Status AddSizes(const ir::DeviceIr& ir, const Leaves& leaves);
  absl::Status AddScalars(const ir::DeviceIr& ir, const Leaves& leaves);
  void AddUnitStrides(const ir::DeviceIr& ir, const Leaves& leaves);

  const Device* device_;
  std::vector<SizeKey> sizes_;
  std::vector<UnitStrideKey> strides_;
  std::vector<ScalarKey> scalars_;
};

}  // namespace telemetry::worker
