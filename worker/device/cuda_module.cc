#include "worker/device/cuda_module.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "worker/device/cuda_memory.h"
#include "worker/device/launch_checks.h"

namespace telemetry::worker::device {
namespace {

using SharedModule = std::shared_ptr<const CudaModuleHandle>;
constexpr int64_t kMostBlocks = 0x7fffffff;  // of a grid's first dimension, on all architectures since sm_30

// Returns the address and the size of an argument's value. The address is null for a buffer of another device.
std::pair<const void*, size_t> ArgumentValue(const CudaContext& context, const LaunchArgument& argument) {
  if (const auto* buffer = std::get_if<const Buffer*>(&argument)) {
    const CudaBuffer* own = OwnBuffer(context, *buffer);
    return {own == nullptr ? nullptr : &own->pointer(), sizeof(CUdeviceptr)};
  }
  if (const auto* value = std::get_if<int32_t>(&argument)) return {value, sizeof(int32_t)};
  if (const auto* value = std::get_if<int64_t>(&argument)) return {value, sizeof(int64_t)};
  if (const auto* value = std::get_if<ScalarBytes>(&argument)) return {value->bytes.data(), value->size};
  return {std::get_if<float>(&argument), sizeof(float)};
}

class CudaFunction final : public Function {
 public:
  static absl::StatusOr<std::unique_ptr<Function>> Create(const SharedModule& module, const std::string& name) {
    auto function = std::unique_ptr<CudaFunction>(new CudaFunction(module, name));
    RETURN_IF_ERROR(function->Find());
    RETURN_IF_ERROR(function->ReadAttributes());
    function->ReadParameters();
    return function;
  }

  FunctionAttributes attributes() const override { return attributes_; }

  absl::Status Launch(const LaunchShape& shape, absl::Span<const LaunchArgument> arguments) override {
    RETURN_IF_ERROR(CheckShape(name_, shape, limits_));
    absl::InlinedVector<void*, 32> values;
    RETURN_IF_ERROR(Collect(arguments, &values));
    if (shape.grid == 0) return absl::OkStatus();
    RETURN_IF_ERROR(context().MakeCurrent());
    RETURN_IF_ERROR(AllowShared(shape.shared_bytes));
    return context().Check(context().api().launch_kernel(
                               function_, static_cast<unsigned>(shape.grid), static_cast<unsigned>(shape.grid_y),
                               static_cast<unsigned>(shape.grid_z), static_cast<unsigned>(shape.threads),
                               static_cast<unsigned>(shape.threads_y), static_cast<unsigned>(shape.threads_z),
                               static_cast<unsigned>(shape.shared_bytes), context().stream(), values.data(), nullptr),
                           "cuLaunchKernel");
  }

  int BlocksPerUnit(const LaunchShape& shape) const override {
    int blocks = 0;
    const bool known = context().MakeCurrent().ok() && context().api().blocks_per_multiprocessor(
                                                           &blocks, function_, static_cast<int>(shape.block_threads()),
                                                           shape.shared_bytes) == CUDA_SUCCESS;
    return known ? blocks : 0;
  }

 private:
  CudaFunction(SharedModule module, std::string name) : module_(std::move(module)), name_(std::move(name)) {}

  const CudaContext& context() const { return *module_->context(); }

  absl::Status Find() {
    RETURN_IF_ERROR(context().MakeCurrent());
    const CUresult result = context().api().module_get_function(&function_, module_->get(), name_.c_str());
    if (result == CUDA_ERROR_NOT_FOUND) {
      return absl::NotFoundError(absl::StrCat("the module has no kernel \"", name_, "\""));
    }
    return context().Check(result, "cuModuleGetFunction");
  }

  absl::StatusOr<int> Attribute(CUfunction_attribute attribute) const {
    int value = 0;
    const CUresult result = context().api().function_get_attribute(&value, attribute, function_);
    if (result != CUDA_SUCCESS) return context().Check(result, "cuFuncGetAttribute");
    return value;
  }

  absl::Status ReadAttributes() {
    const absl::StatusOr<int> registers = Attribute(CU_FUNC_ATTRIBUTE_NUM_REGS);
    const absl::StatusOr<int> local = Attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    const absl::StatusOr<int> shared = Attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    const absl::StatusOr<int> threads = Attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    const absl::StatusOr<int> dynamic = Attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    for (const auto* value : {&registers, &local, &shared, &threads, &dynamic}) {
      if (!value->ok()) return value->status();
    }
    attributes_ = {.registers = *registers,
                   .spill_bytes = static_cast<size_t>(*local),
                   .static_shared_bytes = static_cast<size_t>(*shared),
                   .max_threads_per_block = *threads};
    allowed_shared_bytes_ = static_cast<size_t>(*dynamic);
    limits_ = {.grid = kMostBlocks,
               .threads = *threads,
               .registers = *registers,
               .shared_bytes = context().properties().shared_bytes_per_block - attributes_.static_shared_bytes};
    return absl::OkStatus();
  }

  // Drivers before 12.4 do not report the parameters. Arguments are then not checked.
  void ReadParameters() {
    if (context().api().function_get_parameter == nullptr) return;
    size_t offset = 0;
    size_t bytes = 0;
    while (context().api().function_get_parameter(function_, parameter_bytes_.size(), &offset, &bytes) ==
           CUDA_SUCCESS) {
      parameter_bytes_.push_back(bytes);
    }
    parameters_known_ = true;
  }

  // The driver copies the values that `values` points to before the launch call returns.
  absl::Status Collect(absl::Span<const LaunchArgument> arguments, absl::InlinedVector<void*, 32>* values) const {
    if (parameters_known_) {
      RETURN_IF_ERROR(CheckArgumentCount(name_, arguments.size(), parameter_bytes_.size()));
    }
    for (const LaunchArgument& argument : arguments) {
      const auto [value, bytes] = ArgumentValue(context(), argument);
      const size_t index = values->size();
      if (value == nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat("launch of ", name_, ": argument ", index, " is not a buffer of this device"));
      }
      if (parameters_known_ && bytes != parameter_bytes_[index]) {
        return absl::InvalidArgumentError(absl::StrCat("launch of ", name_, ": argument ", index, " has ", bytes,
                                                       " bytes, its parameter ", parameter_bytes_[index]));
      }
      values->push_back(const_cast<void*>(value));
    }
    return absl::OkStatus();
  }

  // Dynamic shared memory above 48 KiB must be enabled once per function.
  absl::Status AllowShared(size_t bytes) {
    if (bytes <= allowed_shared_bytes_) return absl::OkStatus();
    const CUresult result = context().api().function_set_attribute(
        function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(bytes));
    if (result == CUDA_SUCCESS) allowed_shared_bytes_ = bytes;
    return context().Check(result, "cuFuncSetAttribute");
  }

  const SharedModule module_;
  const std::string name_;
  CUfunction function_ = nullptr;
  FunctionAttributes attributes_;
  LaunchLimits limits_;
  size_t allowed_shared_bytes_ = 0;
  bool parameters_known_ = false;
  std::vector<size_t> parameter_bytes_;
};

class CudaModule final : public Module {
 public:
  explicit CudaModule(SharedModule module) : module_(std::move(module)) {}

  absl::Status SetVariable(const std::string& name, absl::Span<const std::byte> bytes) override {
    const CudaContext& context = *module_->context();
    RETURN_IF_ERROR(context.MakeCurrent());
    CUdeviceptr address = 0;
    size_t size = 0;
    const CUresult found = context.api().module_get_global(&address, &size, module_->get(), name.c_str());
    if (found == CUDA_ERROR_NOT_FOUND) {
      return absl::NotFoundError(absl::StrCat("the module has no variable \"", name, "\""));
    }
    RETURN_IF_ERROR(context.Check(found, "cuModuleGetGlobal"));
    const size_t copied = std::min(size, bytes.size());
    RETURN_IF_ERROR(context.Check(context.api().memcpy_to_device(address, bytes.data(), copied, context.stream()),
                                  "cuMemcpyHtoDAsync"));
    // The caller may release the bytes.
    return context.Check(context.api().stream_synchronize(context.stream()), "cuStreamSynchronize");
  }

  absl::StatusOr<std::unique_ptr<Function>> GetFunction(const std::string& name) override {
    return CudaFunction::Create(module_, name);
  }

 private:
  SharedModule module_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> LoadCudaModule(const std::shared_ptr<const CudaContext>& context,
                                                       const CompiledCode& code) {
  RETURN_IF_ERROR(context->MakeCurrent());
  RETURN_IF_ERROR(context->CheckNotCapturing("load a kernel"));
  CUmodule module = nullptr;
  const CUresult result = context->api().module_load_data(&module, code.binary.data());
  if (result != CUDA_SUCCESS) return context->Check(result, "cuModuleLoadData");
  return std::make_unique<CudaModule>(std::make_shared<CudaModuleHandle>(context, module));
}

}  // namespace telemetry::worker::device
