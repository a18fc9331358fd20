#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "worker/repro/recorded_measurement.h"

namespace telemetry::worker::repro {

// Returns the lines that identify a measurement, for the head of its program.
std::vector<std::string> Provenance(const RecordedMeasurement& measured);

// Returns a line of a C++ comment with its line end. Control characters become spaces, and a backslash at the end is
// followed by a full stop, because it would continue the comment.
std::string CommentLine(std::string text);

// Quotes a path for a shell. A path that begins with '-' gets the prefix "./", so that no program parses it as a flag.
std::string ForShell(const std::string& path);

// Returns the shell command that compiles a C++ file with these libraries and runs it.
std::string CppCommandOf(const std::string& path, std::string_view libraries);

}  // namespace telemetry::worker::repro
