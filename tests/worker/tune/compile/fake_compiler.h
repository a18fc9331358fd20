#pragma once

#include <optional>
#include <string>

#include "worker/tune/process/child_process.h"

namespace telemetry::worker::tune::compile {

// A compiler process that obeys the source: "crash", "hang" (forever), "quit", "garbage", "refuse", "keep" (memory).
// Any other source compiles to the source, followed by a colon and the process's pid.
process::ChildProgram FakeCompiler();

// Returns the pid in such a binary.
pid_t PidIn(const std::string& binary);

// Runs the compiler process and returns its exit status; nullopt if the arguments are not those of a fake compiler.
std::optional<int> PlayCompiler(int argc, char** argv);

}  // namespace telemetry::worker::tune::compile
