#pragma once

#include <functional>
#include <string>

#include "proto/record/json.h"

namespace telemetry::worker::tune::recording {

// A function that returns the value of an environment variable; empty if it is not set.
using Variables = std::function<std::string(const char* name)>;

// Returns the value of this process's environment variable.
std::string ProcessVariable(const char* name);

// Returns the environment of an attempt, for Attempt.environment_json:
//   program  "telemetry-worker 0.1.0"
//   host     the name of the machine
//   os       "Debian GNU/Linux 12 (bookworm)"
//   kernel   "Linux 6.1.0-18-amd64 x86_64"
//   cpu, cpus   the processor's name, the number of processors that this process may use
//   ci       an object with the CI system's variables that identify the job; null outside of CI
//   device   the argument: properties of the device, versions of its driver and compiler
// Values that are not known are null. The result contains nothing that changes while a job runs, so that a resumed
// attempt has the same environment.
record::Json Environment(record::Json device, const Variables& variables = ProcessVariable);

}  // namespace telemetry::worker::tune::recording
