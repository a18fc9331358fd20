#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "worker/device/dtype.h"
#include "worker/ir/compare.h"

namespace telemetry::worker::tune {

// What the configs of a kernel are measured on: the memory that launches get, and what has to be in it afterwards. It
// knows of no kernel: only of buffers, which requests refer to by number.

// A tensor in a buffer of its own. Elements of gaps between strides belong to it, and have to stay as they are.
struct ProblemBuffer {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;           // in elements, not negative
  std::optional<ir::Tolerance> expected;  // kernels write it, so close to the data's `expected`; none: only read
};

struct BufferData {
  // As in the device's memory. Empty: nothing was written yet; measuring fills it with NaN (integers: a value that
  // stands out), so that what a kernel leaves out is seen.
  std::vector<std::byte> initial;
  // Of buffers that kernels write: a value for each element in the order of memory (HostArray::data), not rounded.
  std::vector<double> expected;
};

// One set of arguments, and the results that belong to it; by buffer.
struct DataSet {
  std::vector<BufferData> buffers;
};

// The first data set is what configs are measured on. The last is what those are checked on that are compared for the
// final: give two, so that a config that is right by chance, or by what earlier ones left behind, does not win.
struct MeasureProblem {
  std::vector<ProblemBuffer> buffers;
  std::vector<DataSet> data_sets;
};

}  // namespace telemetry::worker::tune
