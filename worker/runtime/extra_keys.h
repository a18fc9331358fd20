#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/device/device.h"
#include "worker/ir/graph.h"
#include "worker/runtime/leaves.h"

namespace telemetry::worker::runtime {

// The values, beside the specialization key, for which one trace is valid: the values that the traced function
// requested (Trace::Specialize, Trace::SpecializeScalar), the strides that are 1 if shapes are not static, and the
// device on which the code is loaded. The set of values can differ between traces of one key, because the function may
// request more values if one value makes it take another branch. Immutable.
class ExtraKeys {
 public:
  // Returns the extra keys of a trace with these arguments. `device` may be null (reference mode) and must outlive the
  // result. INTERNAL: the IR specialises on a value that is not an argument.
  static absl::StatusOr<ExtraKeys> Of(const ir::DeviceIr& ir, const Leaves& leaves, bool static_shapes,
                                      const device::Device* device);

  // Returns true if these arguments, which have the same specialization key, have the same values. Does not allocate.
  bool Match(const Leaves& leaves) const;

  // Returns a text such as "x.size(1)=4096, scale=0.5, opencl:0".
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

  explicit ExtraKeys(const device::Device* device) : device_(device) {}
  absl::Status AddSizes(const ir::DeviceIr& ir, const Leaves& leaves);
  absl::Status AddScalars(const ir::DeviceIr& ir, const Leaves& leaves);
  void AddUnitStrides(const ir::DeviceIr& ir, const Leaves& leaves);

  const device::Device* device_;
  std::vector<SizeKey> sizes_;
  std::vector<UnitStrideKey> strides_;
  std::vector<ScalarKey> scalars_;
};

}  // namespace telemetry::worker::runtime
