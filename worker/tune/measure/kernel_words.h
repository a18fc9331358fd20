#pragma once

#include <string>

#include "worker/device/device.h"

namespace telemetry::worker::tune {

// What the measuring process' own kernels are written in, so that one text does for both dialects: KERNEL, GLOBAL, i64,
// uint, FIRST and STEP (to walk over elements with all threads of a launch), ADD and MAX (atomic), FLOAT_OF and
// BITS_OF.
std::string KernelWords(Dialect dialect);

}  // namespace telemetry::worker::tune
