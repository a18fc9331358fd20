#pragma once

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/tune/measure/measure.pb.h"
#include "worker/tune/measure/measure_problem.h"
#include "worker/tune/process/shared_bytes.h"

namespace telemetry::worker::tune {

// A problem as measuring processes get it: a description, and one shared memory with all its data.
struct ProblemImage {
  wire::Setup setup;
  SharedBytes data;
};

// INVALID_ARGUMENT: the problem is not consistent; says which buffer and what is wrong. RESOURCE_EXHAUSTED: not so much
// memory.
absl::StatusOr<ProblemImage> MakeImage(const MeasureProblem& problem, const std::string& device);

// INVALID_ARGUMENT: the range is not inside the data.
absl::StatusOr<absl::Span<const std::byte>> BytesOf(const wire::Range& range, absl::Span<const std::byte> data);

}  // namespace telemetry::worker::tune
