#pragma once

#include <optional>
#include <string>

#include "worker/tune/process/child_process.h"

namespace telemetry::worker::tune {

// A compiler process that does as the source says: "crash", "hang" (for ever), "quit", "garbage", "refuse". Any other
// source compiles to a text that begins with it, a colon and the process's pid.
ChildProgram FakeCompiler();

// The pid in such a binary.
pid_t PidIn(const std::string& binary);

// The other side: empty where the arguments are not a fake compiler's.
std::optional<int> PlayCompiler(int argc, char** argv);

}  // namespace telemetry::worker::tune
