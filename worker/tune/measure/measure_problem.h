#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/device/dtype.h"
#include "worker/ir/compare.h"
#include "worker/tune/measure/measure_request.h"

namespace telemetry::worker::tune::measure {

// A problem on which the configs of a kernel are measured: the memory that launches get and its expected contents
// afterwards. A problem does not refer to a kernel, only to buffers, which requests refer to by index.

// A tensor in a buffer of its own. Elements in gaps between strides are part of the buffer, and kernels must not change
// them.
struct ProblemBuffer {
  std::string name;
  device::DType dtype = device::DType::kF32;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;           // in elements, not negative
  std::optional<ir::Tolerance> expected;  // tolerance if kernels write the buffer; unset: read-only
  // True: each pair of elements is the two halves of a double, and results are compared as doubles; dtype is kI32.
  bool holds_doubles = false;
};

// The expected value of one element.
struct ExpectedElement {
  uint32_t place = 0;  // the element's position in memory
  double value = 0;    // not rounded
};

// The contents of one buffer in a data set.
struct BufferData {
  // The contents in device memory. Empty: no values yet. The measuring process fills such a buffer with NaN (integers:
  // a conspicuous value), so that elements that a kernel does not write are detected.
  std::vector<std::byte> initial;
  // For buffers that kernels write: one value per element in the order of memory (HostArray::data), not rounded. Empty
  // if the problem has baselines or a reference.
  std::vector<double> expected;
  // If the problem has baselines: the elements by which a baseline is checked.
  std::vector<ExpectedElement> sample;
};

// One set of arguments and their results, by buffer.
struct DataSet {
  std::vector<BufferData> buffers;
};

// The first data set is used to measure configs. The last one is used to check the configs that are compared in the
// final. Pass two, so that a config that is right by chance, or because of values that earlier configs left in memory,
// does not win.
//
// The expected results are data, or the results of a reference, which the first measuring process runs once, before any
// config; all processes then get its results as data. Or they are the results of a baseline: code that the measuring
// processes run on each data set. The results of a baseline must agree with the samples of the data set within the
// tolerance. Results of configs are then compared with all of the baseline's, within twice the tolerance, because both
// may be off in opposite directions.
struct MeasureProblem {
  std::vector<ProblemBuffer> buffers;
  std::vector<DataSet> data_sets;
  // Empty: the data sets have the expected results. Otherwise the first one that runs and agrees with the samples is
  // used. Buffers must not hold doubles.
  std::vector<MeasureRequest> baselines;
  // Set: its results are the expected ones. There are no baselines and one data set then.
  std::optional<MeasureRequest> reference;
  // Set: the last data set, which is still being made. Only the final waits for it. Its buffers have as many bytes,
  // expected values and samples as those of the first data set.
  std::shared_future<absl::StatusOr<DataSet>> last;
};

}  // namespace telemetry::worker::tune::measure
