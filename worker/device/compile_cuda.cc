#include "worker/device/compile_cuda.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/device/compile_options.h"
#include "worker/device/library.h"

namespace telemetry::worker::device {
namespace {

// The types of NVRTC's documentation (docs.nvidia.com/cuda/nvrtc).
using nvrtcResult = int;
using nvrtcProgram = struct _nvrtcProgram*;
constexpr nvrtcResult NVRTC_SUCCESS = 0;
constexpr nvrtcResult NVRTC_ERROR_INVALID_OPTION = 5;
constexpr nvrtcResult NVRTC_ERROR_COMPILATION = 6;

struct NvrtcApi {
  nvrtcResult (*version)(int* major, int* minor);
  const char* (*get_error_string)(nvrtcResult result);
  nvrtcResult (*create_program)(nvrtcProgram* program, const char* source, const char* name, int header_count,
                                const char* const* headers, const char* const* include_names);
  nvrtcResult (*destroy_program)(nvrtcProgram* program);
  nvrtcResult (*compile_program)(nvrtcProgram program, int option_count, const char* const* options);
  nvrtcResult (*add_name_expression)(nvrtcProgram program, const char* expression);
  nvrtcResult (*get_lowered_name)(nvrtcProgram program, const char* expression, const char** name);
  nvrtcResult (*get_log_size)(nvrtcProgram program, size_t* size);
  nvrtcResult (*get_log)(nvrtcProgram program, char* log);
  nvrtcResult (*get_cubin_size)(nvrtcProgram program, size_t* size);
  nvrtcResult (*get_cubin)(nvrtcProgram program, char* cubin);
};

absl::StatusOr<NvrtcApi> LoadNvrtc() {
  absl::StatusOr<SharedLibrary> library = SharedLibrary::OpenChosen(
      "TELEMETRY_NVRTC", {"libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so",
                          "/usr/local/cuda/lib64/libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.12"});
  if (!library.ok()) {
    return absl::UnavailableError(absl::StrCat(
        "no NVRTC to compile CUDA sources with: install NVIDIA's libnvrtc.so.13 (or 12), or set TELEMETRY_NVRTC to its "
        "path (",
        library.status().message(), ")"));
  }
  NvrtcApi api = {};
  const absl::Status status = FunctionBinder(*library)
                                  .Bind("nvrtcVersion", &api.version)
                                  .Bind("nvrtcGetErrorString", &api.get_error_string)
                                  .Bind("nvrtcCreateProgram", &api.create_program)
                                  .Bind("nvrtcDestroyProgram", &api.destroy_program)
                                  .Bind("nvrtcCompileProgram", &api.compile_program)
                                  .Bind("nvrtcAddNameExpression", &api.add_name_expression)
                                  .Bind("nvrtcGetLoweredName", &api.get_lowered_name)
                                  .Bind("nvrtcGetProgramLogSize", &api.get_log_size)
                                  .Bind("nvrtcGetProgramLog", &api.get_log)
                                  .Bind("nvrtcGetCUBINSize", &api.get_cubin_size)
                                  .Bind("nvrtcGetCUBIN", &api.get_cubin)
                                  .status();
  if (!status.ok()) return absl::UnavailableError(status.message());
  return api;
}

absl::StatusOr<const NvrtcApi*> GetNvrtcApi() {
  static const absl::StatusOr<NvrtcApi>& api = *new absl::StatusOr<NvrtcApi>(LoadNvrtc());
  if (!api.ok()) return api.status();
  return &*api;
}

absl::Status Check(const NvrtcApi& api, nvrtcResult result, std::string_view what) {
  if (result == NVRTC_SUCCESS) return absl::OkStatus();
  return absl::InternalError(record::Cat(what, " failed: ", api.get_error_string(result)));
}

using Version = std::pair<int, int>;

// Options of later versions of NVRTC.
constexpr Version kHasCache = {12, 9};
constexpr Version kHasMinimal = {12, 4};

bool IsAtLeast(const NvrtcApi& api, Version version) {
  Version own;
  return api.version(&own.first, &own.second) == NVRTC_SUCCESS && own >= version;
}

// The part of NVRTC's declarations that a source sees: kMost (--minimal) are all but those of textures and of CUDA's
// runtime, which few sources use. Compiling takes 3 ms less without them, and gives the same code.
enum class Declarations { kMost, kAll };

// Returns true if the compiler's front end refused the source, which takes some milliseconds. The messages of the
// assembler, which refuses code that needs too much shared memory, begin a line with its name.
bool IsOfFrontEnd(const absl::Status& status) {
  return absl::IsInvalidArgument(status) && !absl::StrContains(status.message(), "\nptxas");
}

// One source while it is compiled.
class Program {
 public:
  static absl::StatusOr<Program> Create(const NvrtcApi& api, const std::string& source) {
    nvrtcProgram program = nullptr;
    const nvrtcResult result = api.create_program(&program, source.c_str(), "kernel.cu", 0, nullptr, nullptr);
    if (result != NVRTC_SUCCESS) return Check(api, result, "nvrtcCreateProgram");
    return Program(api, program);
  }
  Program(Program&& other) noexcept : api_(other.api_), program_(std::exchange(other.program_, nullptr)) {}
  Program& operator=(Program&&) = delete;
  ~Program() {
    if (program_ != nullptr) api_.destroy_program(&program_);
  }

  absl::Status Compile(const std::string& architecture, const SourceOptions& of_source, NvrtcCache cache,
                       Declarations declarations) {
    std::vector<std::string> options = CudaCompileOptions(architecture, of_source);
    if (cache == NvrtcCache::kBypassed && IsAtLeast(api_, kHasCache)) options.emplace_back("--no-cache");
    if (declarations == Declarations::kMost) options.emplace_back("--minimal");
    if (!of_source.kernel.empty()) {
      RETURN_IF_ERROR(
          Check(api_, api_.add_name_expression(program_, of_source.kernel.c_str()), "nvrtcAddNameExpression"));
    }
    std::vector<const char*> texts;
    for (const std::string& option : options) texts.push_back(option.c_str());
    const nvrtcResult result = api_.compile_program(program_, static_cast<int>(texts.size()), texts.data());
    if (result == NVRTC_ERROR_COMPILATION || result == NVRTC_ERROR_INVALID_OPTION) {
      return absl::InvalidArgumentError(absl::StrCat("NVRTC refused the source for ", architecture, ":\n", Log()));
    }
    return Check(api_, result, "nvrtcCompileProgram");
  }

  // Returns the name in the binary of a kernel that Compile() got; empty if it got none.
  absl::StatusOr<std::string> LoweredName(const std::string& kernel) const {
    if (kernel.empty()) return "";
    const char* name = nullptr;
    RETURN_IF_ERROR(Check(api_, api_.get_lowered_name(program_, kernel.c_str(), &name), "nvrtcGetLoweredName"));
    return std::string(name);
  }

  std::string Log() const {
    size_t size = 0;
    if (api_.get_log_size(program_, &size) != NVRTC_SUCCESS || size == 0) return "";
    std::string log(size, '\0');
    if (api_.get_log(program_, log.data()) != NVRTC_SUCCESS) return "";
    log.pop_back();  // the terminator
    return log;
  }

  absl::StatusOr<std::string> Cubin() const {
    size_t size = 0;
    absl::Status status = Check(api_, api_.get_cubin_size(program_, &size), "nvrtcGetCUBINSize");
    std::string cubin(size, '\0');
    if (status.ok()) status = Check(api_, api_.get_cubin(program_, cubin.data()), "nvrtcGetCUBIN");
    if (!status.ok()) return status;
    return cubin;
  }

 private:
  Program(const NvrtcApi& api, nvrtcProgram program) : api_(api), program_(program) {}

  const NvrtcApi& api_;
  nvrtcProgram program_;
};

}  // namespace

// The architecture sm_90a enables instructions of sm_90, wgmma among them, that NVRTC rejects in code that later
// devices could run too. Code compiled here is for one device, or for inspection only. The option -default-device
// compiles functions without a qualifier for the device.
std::vector<std::string> CudaCompileOptions(const std::string& architecture) {
  const std::string own = architecture == "sm_90" ? "sm_90a" : architecture;
  return {absl::StrCat("--gpu-architecture=", own), "--std=c++17", "-default-device"};
}

absl::StatusOr<std::string> NvrtcVersion() {
  ASSIGN_OR_RETURN(const NvrtcApi* const api, GetNvrtcApi());
  int major = 0;
  int minor = 0;
  RETURN_IF_ERROR(Check(*api, api->version(&major, &minor), "nvrtcVersion"));
  return absl::StrCat(major, ".", minor);
}

absl::StatusOr<std::string> NvrtcIdentity() {
  ASSIGN_OR_RETURN(const std::string version, NvrtcVersion());
  ASSIGN_OR_RETURN(const NvrtcApi* const api, GetNvrtcApi());
  Dl_info library = {};
  struct stat file = {};
  if (dladdr(reinterpret_cast<const void*>(api->version), &library) == 0 || stat(library.dli_fname, &file) != 0) {
    return absl::UnavailableError("the file of the loaded NVRTC is unknown");
  }
  return absl::StrCat("NVRTC ", version, ", ", file.st_size, " bytes");
}

absl::StatusOr<CompiledCode> CompileCuda(const std::string& source, const std::string& architecture, NvrtcCache cache) {
  ASSIGN_OR_RETURN(const NvrtcApi* const api, GetNvrtcApi());
  const SourceOptions options = ReadSourceOptions(source);
  const auto compile = [&](Declarations declarations) -> absl::StatusOr<CompiledCode> {
    ASSIGN_OR_RETURN(Program program, Program::Create(*api, source));
    RETURN_IF_ERROR(program.Compile(architecture, options, cache, declarations));
    ASSIGN_OR_RETURN(std::string cubin, program.Cubin());
    ASSIGN_OR_RETURN(std::string function, program.LoweredName(options.kernel));
    return CompiledCode{.binary = std::move(cubin), .log = program.Log(), .function = std::move(function)};
  };
  if (IsAtLeast(*api, kHasMinimal)) {
    absl::StatusOr<CompiledCode> code = compile(Declarations::kMost);
    if (!IsOfFrontEnd(code.status())) return code;
  }
  return compile(Declarations::kAll);
}

}  // namespace telemetry::worker::device
