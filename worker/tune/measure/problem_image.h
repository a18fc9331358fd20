#pragma once

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/tune/measure/measure.pb.h"
#include "worker/tune/measure/measure_problem.h"
#include "worker/tune/process/shared_bytes.h"

namespace telemetry::worker::tune::measure {

// A problem in the form that measuring processes receive: a description and one shared memory with all data.
struct ProblemImage {
  wire::Setup setup;
  process::SharedBytes data;
};

// Returns the image without a baseline, which the caller chooses. INVALID_ARGUMENT: the problem is not consistent; the
// message names the buffer and the error. RESOURCE_EXHAUSTED: there is not enough memory.
absl::StatusOr<ProblemImage> MakeImage(const MeasureProblem& problem, const std::string& device);

// Fills in the last data set of a problem whose image was made before it (MeasureProblem::last). Processes that have
// the image see it. INVALID_ARGUMENT: it has other sizes than the first data set.
absl::Status SetLast(const DataSet& set, ProblemImage* image);

// Converts `elements` bytes of device memory of this buffer to its expected results, from element `first` on. `image`
// is that of a problem with a reference.
void SetExpected(int buffer, uint64_t first, absl::Span<const std::byte> elements, ProblemImage* image);

// Returns the bytes of a range. INVALID_ARGUMENT: the range is not inside the data.
absl::StatusOr<absl::Span<const std::byte>> FindBytes(const wire::Range& range, absl::Span<const std::byte> data);

}  // namespace telemetry::worker::tune::measure
