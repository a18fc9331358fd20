#include "worker/device/opencl_module.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "worker/device/launch_checks.h"
#include "worker/device/opencl_program.h"

namespace telemetry::worker::device {
namespace {

// A program with the context in which it was built.
struct LoadedProgram {
  std::shared_ptr<const OpenClContext> context;
  OpenClProgram program;
};

using SharedProgram = std::shared_ptr<const LoadedProgram>;

// Global sizes are 64-bit on every supported device. This limit leaves room for the factor of the block's size.
constexpr int64_t kMostBlocks = std::numeric_limits<int32_t>::max();

class OpenClFunction final : public Function {
 public:
  static absl::StatusOr<std::unique_ptr<Function>> Create(const SharedProgram& program, const std::string& name) {
    const OpenClApi& api = program->context->api();
    cl_int result = CL_SUCCESS;
    OpenClKernelHandle kernel(&api, api.create_kernel(program->program.program.get(), name.c_str(), &result));
    if (result == CL_INVALID_KERNEL_NAME) {
      return absl::NotFoundError(absl::StrCat("the module has no kernel \"", name, "\""));
    }
    if (result != CL_SUCCESS) return OpenClStatus(result, "clCreateKernel");
    auto function = std::unique_ptr<OpenClFunction>(new OpenClFunction(program, std::move(kernel), name));
    RETURN_IF_ERROR(function->ReadAttributes());
    return function;
  }

  FunctionAttributes attributes() const override { return attributes_; }

  absl::Status Launch(const LaunchShape& shape, absl::Span<const LaunchArgument> arguments) override {
    RETURN_IF_ERROR(CheckShape(name_, shape, limits_));
    RETURN_IF_ERROR(SetArguments(shape, arguments));
    if (shape.grid == 0) return absl::OkStatus();
    const std::array<size_t, 3> threads = {static_cast<size_t>(shape.threads), static_cast<size_t>(shape.threads_y),
                                           static_cast<size_t>(shape.threads_z)};
    const std::array<size_t, 3> all = {static_cast<size_t>(shape.grid) * threads[0],
                                       static_cast<size_t>(shape.grid_y) * threads[1],
                                       static_cast<size_t>(shape.grid_z) * threads[2]};
    const cl_uint dimensions = all[2] > 1 ? 3 : all[1] > 1 ? 2 : 1;
    return OpenClStatus(api().enqueue_kernel(context().queue(), kernel_.get(), dimensions, nullptr, all.data(),
                                             threads.data(), 0, nullptr, nullptr),
                        "clEnqueueNDRangeKernel");
  }

  int BlocksPerUnit(const LaunchShape&) const override { return 0; }

 private:
  OpenClFunction(SharedProgram program, OpenClKernelHandle kernel, std::string name)
      : program_(std::move(program)), kernel_(std::move(kernel)), name_(std::move(name)) {}

  const OpenClContext& context() const { return *program_->context; }
  const OpenClApi& api() const { return context().api(); }

  absl::Status ReadAttributes() {
    size_t threads = 0;
    cl_ulong local_bytes = 0;
    cl_int result = api().get_kernel_work_group_info(kernel_.get(), context().device(), CL_KERNEL_WORK_GROUP_SIZE,
                                                     sizeof(threads), &threads, nullptr);
    if (result == CL_SUCCESS) {
      result = api().get_kernel_work_group_info(kernel_.get(), context().device(), CL_KERNEL_LOCAL_MEM_SIZE,
                                                sizeof(local_bytes), &local_bytes, nullptr);
    }
    if (result == CL_SUCCESS) {
      result = api().get_kernel_info(kernel_.get(), CL_KERNEL_NUM_ARGS, sizeof(parameters_), &parameters_, nullptr);
    }
    if (result != CL_SUCCESS) return OpenClStatus(result, "clGetKernelInfo");
    const size_t all_shared = context().properties().shared_bytes_per_block;
    if (local_bytes > all_shared) {
      return absl::ResourceExhaustedError(absl::StrCat("the kernel \"", name_, "\" declares ", local_bytes,
                                                       " bytes of local memory, but the device has ", all_shared,
                                                       ": choose smaller blocks"));
    }
    attributes_ = {.static_shared_bytes = local_bytes, .max_threads_per_block = static_cast<int>(threads)};
    limits_ = {.grid = kMostBlocks,
               .grid_yz = kMostBlocks,
               .threads = attributes_.max_threads_per_block,
               .shared_bytes = all_shared - local_bytes};
    return absl::OkStatus();
  }

  absl::Status SetArguments(const LaunchShape& shape, absl::Span<const LaunchArgument> arguments) {
    const size_t given = arguments.size() + (shape.shared_bytes > 0 ? 1 : 0);
    RETURN_IF_ERROR(CheckArgumentCount(name_, given, parameters_));
    cl_uint index = 0;
    for (const LaunchArgument& argument : arguments) {
      RETURN_IF_ERROR(SetArgument(index++, argument));
    }
    if (shape.shared_bytes == 0) return absl::OkStatus();
    return Set(index, shape.shared_bytes, nullptr);
  }

  absl::Status SetArgument(cl_uint index, const LaunchArgument& argument) {
    const auto* buffer = std::get_if<const Buffer*>(&argument);
    if (buffer == nullptr) {
      if (const auto* value = std::get_if<int32_t>(&argument)) return Set(index, sizeof(*value), value);
      if (const auto* value = std::get_if<int64_t>(&argument)) return Set(index, sizeof(*value), value);
      if (const auto* value = std::get_if<ScalarBytes>(&argument)) return Set(index, value->size, value->bytes.data());
      return Set(index, sizeof(float), std::get_if<float>(&argument));
    }
    const OpenClBuffer* own = OwnBuffer(context(), *buffer);
    if (own == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("launch of ", name_, ": argument ", index, " is not a buffer of this device"));
    }
    return Set(index, sizeof(cl_mem), &own->memory());
  }

  absl::Status Set(cl_uint index, size_t bytes, const void* value) {
    const cl_int result = api().set_kernel_argument(kernel_.get(), index, bytes, value);
    if (result == CL_SUCCESS) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("launch of ", name_, ": argument ", index, " with ", bytes,
                                                   " bytes: ", OpenClStatus(result, "clSetKernelArg").message()));
  }

  const SharedProgram program_;
  const OpenClKernelHandle kernel_;
  const std::string name_;
  cl_uint parameters_ = 0;
  FunctionAttributes attributes_;
  LaunchLimits limits_;
};

class OpenClModule final : public Module {
 public:
  explicit OpenClModule(SharedProgram program) : program_(std::move(program)) {}

  absl::StatusOr<std::unique_ptr<Function>> GetFunction(const std::string& name) override {
    return OpenClFunction::Create(program_, name);
  }

 private:
  SharedProgram program_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> LoadOpenClModule(const std::shared_ptr<const OpenClContext>& context,
                                                         const CompiledCode& code) {
  ASSIGN_OR_RETURN(OpenClProgram program, LoadOpenClCode(*context, code));
  return std::make_unique<OpenClModule>(
      std::make_shared<LoadedProgram>(LoadedProgram{.context = context, .program = std::move(program)}));
}

}  // namespace telemetry::worker::device
