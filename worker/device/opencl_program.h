#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker/device/device.h"
#include "worker/device/opencl_context.h"

namespace telemetry::worker::device {

// Compilation on an OpenCL device and the conversion of the result to bytes: the platform's binary, or the source if
// the platform has no binaries or they cost more than a build of the source. (PoCL compiles every kernel a second time,
// for a work-group of any size, to return a binary. That takes seven times as long as building the source again.)

// A built program.
struct OpenClProgram {
  OpenClProgramHandle program;
  std::string log;
};

// INVALID_ARGUMENT: the message is the compiler's log.
absl::StatusOr<OpenClProgram> BuildOpenClSource(const OpenClContext& context, const std::string& source);

// FAILED_PRECONDITION: the platform provides no binary.
absl::StatusOr<std::string> ReadBinary(const OpenClContext& context, const OpenClProgram& program);

// Return a binary, or a source, as code that LoadOpenClCode accepts.
CompiledCode CodeOfBinary(std::string binary, std::string log);
CompiledCode CodeOfSource(const std::string& source, std::string log);

// Builds a source and returns the result in the form that the device prefers.
absl::StatusOr<CompiledCode> CompileOpenCl(const OpenClContext& context, const std::string& source);

// INTERNAL: the platform does not accept the code.
absl::StatusOr<OpenClProgram> LoadOpenClCode(const OpenClContext& context, const CompiledCode& code);

}  // namespace telemetry::worker::device
