#pragma once

#include <string_view>

namespace telemetry::worker::repro {

// The parts of a specification's program that do not depend on the kernel. The tables of the program (kKernel,
// kReference, kHasReference, kIsChecked, kArguments, kDevice, kMeasuredMs) follow kSpecTypes and precede kSpecRuntime.
extern const std::string_view kSpecTypes;
extern const std::string_view kSpecRuntime;

}  // namespace telemetry::worker::repro
