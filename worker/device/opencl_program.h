#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker/device/device.h"
#include "worker/device/opencl_context.h"

namespace telemetry::worker {

// Compiling on an OpenCL device, and taking the result along as bytes: the platform's binary, or the source again where
// there is none or it is not worth its price. (PoCL compiles every kernel a second time, for a work-group of any size,
// to hand out a binary: seven times what building the source again takes.)

struct OpenClProgram {
  OpenClProgramHandle program;
  std::string log;
};

// INVALID_ARGUMENT: the compiler's log.
absl::StatusOr<OpenClProgram> BuildOpenClSource(const OpenClContext& context, const std::string& source);

// FAILED_PRECONDITION: the platform gives none.
absl::StatusOr<std::string> BinaryOf(const OpenClContext& context, const OpenClProgram& program);

// A binary as the code that LoadOpenClCode takes, and a source as such.
CompiledCode CodeOfBinary(std::string binary, std::string log);
CompiledCode CodeOfSource(const std::string& source, std::string log);

// Builds a source and keeps the result as this device prefers it.
absl::StatusOr<CompiledCode> CompileOpenCl(const OpenClContext& context, const std::string& source);

// INTERNAL: the platform does not take it back.
absl::StatusOr<OpenClProgram> LoadOpenClCode(const OpenClContext& context, const CompiledCode& code);

}  // namespace telemetry::worker
