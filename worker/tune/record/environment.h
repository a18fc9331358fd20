#pragma once

#include <functional>
#include <string>

#include "proto/record/json.h"

namespace telemetry::worker::tune {

// Reads an environment variable; empty where it is not set.
using Variables = std::function<std::string(const char* name)>;

std::string ProcessVariable(const char* name);

// Where an attempt runs, for Attempt.environment_json:
//   program  "telemetry-worker 0.1.0"
//   host     the machine's name
//   os       "Debian GNU/Linux 12 (bookworm)"
//   kernel   "Linux 6.1.0-18-amd64 x86_64"
//   cpu, cpus   the processor's name, how many of them this process may use
//   ci       an object of the CI system's variables that say which job this is; null outside of CI
//   device   as given: properties of the device, versions of its driver and compiler
// What cannot be found out is null. Says nothing that changes while a job runs, so that a resumed attempt has the same.
record::Json Environment(record::Json device, const Variables& variables = ProcessVariable);

}  // namespace telemetry::worker::tune
