#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "worker/tune/measure/measure.pb.h"

namespace telemetry::worker::tune::measure {

// Conversion of device errors and wrong results to failures of a config (v1::Failure: phase, class, code, message).

// The phases of a config, in their order.
inline constexpr char kLoadPhase[] = "load";
inline constexpr char kLaunchPhase[] = "launch";
inline constexpr char kRunPhase[] = "run";
inline constexpr char kCheckPhase[] = "check";

// Returns the failure for a device's error. Code and class are the driver's error if the message contains one
// ("CUDA_ERROR_ILLEGAL_ADDRESS", "IllegalAddress"), else those of the status ("RESOURCE_EXHAUSTED", "OutOfResources").
wire::Failure MakeFailure(std::string_view phase, const absl::Status& status);

wire::Failure CheckFailure(std::string_view error_class, std::string_view code, std::string message);

// Returns a text such as "3 results beyond the tolerance; the first is 'out'[1, 2]: expected 0.5, got nan; worst ...".
std::string DescribeMismatch(const wire::Check& check);

}  // namespace telemetry::worker::tune::measure
