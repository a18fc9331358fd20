#include "worker/device/opencl_program.h"

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/device/compile_options.h"

namespace telemetry::worker::device {
namespace {

// The first bytes of code that holds source. No platform's binary begins with them.
constexpr std::string_view kSourceMark = "opencl-source\n";

std::string BuildLog(const OpenClContext& context, cl_program program) {
  const OpenClApi& api = context.api();
  size_t size = 0;
  if (api.get_build_info(program, context.device(), CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) != CL_SUCCESS ||
      size == 0) {
    return "";
  }
  std::string log(size, '\0');
  if (api.get_build_info(program, context.device(), CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr) != CL_SUCCESS) {
    return "";
  }
  log.resize(log.find('\0'));
  return log;
}

// Calls clBuildProgram for a program from source or binary.
absl::StatusOr<OpenClProgram> Build(const OpenClContext& context, OpenClProgramHandle program, const char* options) {
  const cl_device_id device = context.device();
  const cl_int result = context.api().build_program(program.get(), 1, &device, options, nullptr, nullptr);
  std::string log = BuildLog(context, program.get());
  if (result == CL_BUILD_PROGRAM_FAILURE) {
    return absl::InvalidArgumentError(
        absl::StrCat(context.properties().runtime_version, " refused the source:\n", log));
  }
  if (result != CL_SUCCESS) return OpenClStatus(result, "clBuildProgram");
  return OpenClProgram{.program = std::move(program), .log = std::move(log)};
}

absl::StatusOr<OpenClProgram> LoadBinary(const OpenClContext& context, const std::string& binary) {
  const cl_device_id device = context.device();
  const size_t size = binary.size();
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  cl_int taken = CL_SUCCESS;
  cl_int result = CL_SUCCESS;
  OpenClProgramHandle program(&context.api(), context.api().create_program_of_binary(context.get(), 1, &device, &size,
                                                                                     &bytes, &taken, &result));
  if (result == CL_SUCCESS) result = taken;
  if (result != CL_SUCCESS) return OpenClStatus(result, "clCreateProgramWithBinary");
  return Build(context, std::move(program), "");
}

}  // namespace

absl::StatusOr<OpenClProgram> BuildOpenClSource(const OpenClContext& context, const std::string& source) {
  const char* text = source.data();
  const size_t size = source.size();
  cl_int result = CL_SUCCESS;
  OpenClProgramHandle program(&context.api(), context.api().create_program(context.get(), 1, &text, &size, &result));
  if (result != CL_SUCCESS) return OpenClStatus(result, "clCreateProgramWithSource");
  const std::string options = absl::StrJoin(OpenClCompileOptions(ReadSourceOptions(source)), " ");
  return Build(context, std::move(program), options.c_str());
}

absl::StatusOr<std::string> ReadBinary(const OpenClContext& context, const OpenClProgram& program) {
  const OpenClApi& api = context.api();
  size_t size = 0;
  cl_int result = api.get_program_info(program.program.get(), CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr);
  if (result == CL_SUCCESS && size == 0) return absl::FailedPreconditionError("the platform provides no binary");
  std::string binary(size, '\0');
  char* bytes = binary.data();
  if (result == CL_SUCCESS) {
    result = api.get_program_info(program.program.get(), CL_PROGRAM_BINARIES, sizeof(bytes), &bytes, nullptr);
  }
  if (result != CL_SUCCESS) return absl::FailedPreconditionError(OpenClStatus(result, "clGetProgramInfo").message());
  return binary;
}

CompiledCode CodeOfBinary(std::string binary, std::string log) {
  return {.binary = std::move(binary), .log = std::move(log)};
}

CompiledCode CodeOfSource(const std::string& source, std::string log) {
  return {.binary = record::Cat(kSourceMark, source), .log = std::move(log)};
}

absl::StatusOr<CompiledCode> CompileOpenCl(const OpenClContext& context, const std::string& source) {
  ASSIGN_OR_RETURN(OpenClProgram program, BuildOpenClSource(context, source));
  if (context.takes_binaries()) {
    absl::StatusOr<std::string> binary = ReadBinary(context, program);
    if (binary.ok()) return CodeOfBinary(*std::move(binary), std::move(program.log));
  }
  return CodeOfSource(source, std::move(program.log));
}

absl::StatusOr<OpenClProgram> LoadOpenClCode(const OpenClContext& context, const CompiledCode& code) {
  std::string_view source = code.binary;
  absl::StatusOr<OpenClProgram> program = record::TakePrefix(kSourceMark, &source)
                                              ? BuildOpenClSource(context, std::string(source))
                                              : LoadBinary(context, code.binary);
  if (program.ok()) return program;
  return absl::InternalError(absl::StrCat("loading compiled code: ", program.status().message()));
}

}  // namespace telemetry::worker::device
