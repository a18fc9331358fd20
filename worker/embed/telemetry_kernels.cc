#include "worker/embed/telemetry_kernels.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "proto/base/status_macros.h"
#include "proto/record/json.h"
#include "proto/record/numbers.h"
#include "proto/record/strings.h"
#include "worker/codegen/config.h"
#include "worker/device/interop.h"
#include "worker/device/open_device.h"
#include "worker/kernels/call_problem.h"
#include "worker/kernels/kernel_spec.h"
#include "worker/kernels/library.h"
#include "worker/runtime/kernel.h"
#include "worker/runtime/program_call.h"
#include "worker/runtime/program_tensor.h"

namespace telemetry::worker::embed {
namespace {

using device::Device;
using record::Cat;
using runtime::Arguments;
using runtime::Tensor;

using DlpackPointers = absl::Span<const DLTensor* const>;

// A device that all kernels of the process share.
struct SharedDevice {
  std::shared_ptr<Device> device;
  absl::Mutex mutex;  // held during a call, because a device allows one at a time
};

// Returns the device of this name, opened once. Devices stay open, because drivers do not allow a late release.
absl::StatusOr<SharedDevice*> Open(const std::string& id) {
  static auto& mutex = *new absl::Mutex();
  static auto& opened = *new std::map<std::string, std::unique_ptr<SharedDevice>>();
  const absl::MutexLock lock(&mutex);
  if (const auto found = opened.find(id); found != opened.end()) return found->second.get();
  ASSIGN_OR_RETURN(std::shared_ptr<Device> device, device::OpenDevice(id));
  std::unique_ptr<SharedDevice>& entry = opened[device->id()];
  if (entry == nullptr) {
    entry = std::make_unique<SharedDevice>();
    entry->device = std::move(device);
  }
  return entry.get();
}

// The program's DLTensor and that of dlpack.h have the same layout.
const runtime::dlpack::DLTensor& Shared(const DLTensor* tensor) {
  return *reinterpret_cast<const runtime::dlpack::DLTensor*>(tensor);
}

std::string& LastError() {
  static thread_local std::string error;
  return error;
}

int Finish(const absl::Status& status) {
  if (!status.ok()) LastError() = std::string(status.message());
  return static_cast<int>(status.code());
}

// The implementation of telemetry_kernel.
class EmbeddedKernel {
 public:
  static absl::StatusOr<std::unique_ptr<EmbeddedKernel>> Create(const std::string& device, const std::string& name,
                                                                const std::string& config) {
    ASSIGN_OR_RETURN(const kernels::LibraryKernel* const library, kernels::FindKernel(name));
    runtime::KernelSpec spec = kernels::MakeKernelSpec(*library);
    spec.settings = runtime::Settings{.use_default_config = true};
    if (!config.empty()) {
      ASSIGN_OR_RETURN(spec.config, codegen::Config::Parse(config));
    }
    ASSIGN_OR_RETURN(std::unique_ptr<runtime::Kernel> kernel, runtime::Kernel::Create(std::move(spec)));
    ASSIGN_OR_RETURN(SharedDevice* const shared, Open(device));
    ASSIGN_OR_RETURN(const device::Interop* const interop, device::InteropOf(*shared->device));
    return std::unique_ptr<EmbeddedKernel>(new EmbeddedKernel(library, std::move(kernel), shared, interop->on_host()));
  }

  const std::string& description() const { return description_; }

  absl::Status Run(DlpackPointers inputs, absl::Span<const double> numbers, DlpackPointers outputs,
                   std::optional<uint64_t> stream) {
    const absl::MutexLock lock(&shared_->mutex);
    ASSIGN_OR_RETURN(const Arguments arguments, Import(inputs, numbers));
    std::vector<Tensor> results;
    results.reserve(outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      ASSIGN_OR_RETURN(Tensor output, ImportOne(Cat("output ", i), outputs[i]));
      results.push_back(std::move(output));
    }
    return runtime::RunOnProgramMemory(*kernel_, arguments, results, stream);
  }

  absl::StatusOr<std::vector<Tensor>> Allocate(DlpackPointers inputs, absl::Span<const double> numbers) {
    const absl::MutexLock lock(&shared_->mutex);
    ASSIGN_OR_RETURN(const Arguments arguments, Import(inputs, numbers));
    return runtime::AllocateProgramOutputs(*kernel_, arguments);
  }

 private:
  EmbeddedKernel(const kernels::LibraryKernel* library, std::unique_ptr<runtime::Kernel> kernel, SharedDevice* shared,
                 bool on_host)
      : library_(*library), kernel_(std::move(kernel)), shared_(shared) {
    record::Json tensors = record::Json::Array();
    for (const kernels::TensorArgument& tensor : library->tensors) {
      tensors.items.push_back(record::Json::String(tensor.name));
    }
    record::Json numbers = record::Json::Array();
    for (const kernels::NumberArgument& number : library->numbers) {
      record::Json entry = record::Json::Object();
      entry.members = {{"name", record::Json::String(number.name)},
                       {"default", record::Json::Number(record::FloatRepr(number.default_value))}};
      numbers.items.push_back(std::move(entry));
    }
    record::Json all = record::Json::Object();
    all.members = {{"device", record::Json::String(shared->device->id())},
                   {"on_host", record::Json::Bool(on_host)},
                   {"tensors", std::move(tensors)},
                   {"numbers", std::move(numbers)}};
    description_ = record::ToJson(all);
  }

  absl::StatusOr<Tensor> ImportOne(std::string_view what, const DLTensor* given) const {
    absl::StatusOr<Tensor> tensor = runtime::BorrowDlpack(shared_->device, Shared(given));
    if (tensor.ok()) return tensor;
    return absl::Status(tensor.status().code(),
                        Cat("kernel '", library_.name, "', ", what, ": ", tensor.status().message()));
  }

  // Returns the arguments of a call that the library kernel accepts.
  absl::StatusOr<Arguments> Import(DlpackPointers inputs, absl::Span<const double> numbers) const {
    if (numbers.size() != library_.numbers.size()) {
      return absl::InvalidArgumentError(Cat("kernel '", library_.name, "' takes ", library_.numbers.size(),
                                            " numbers, but ", numbers.size(), " are given"));
    }
    Arguments arguments;
    arguments.reserve(inputs.size() + numbers.size());
    std::vector<kernels::GivenTensor> given;
    given.reserve(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::string_view name = i < library_.tensors.size() ? std::string_view(library_.tensors[i].name) : "";
      ASSIGN_OR_RETURN(Tensor tensor, ImportOne(Cat("argument '", name, "'"), inputs[i]));
      arguments.emplace_back(std::move(tensor));
      const auto& added = *arguments.back().As<Tensor>();
      given.push_back({.dtype = added.dtype, .sizes = added.sizes});
    }
    const auto describe = [&arguments](size_t i) { return Cat("it is ", arguments[i].As<Tensor>()->ToString()); };
    if (absl::StatusOr<kernels::Problem> problem = kernels::ProblemOfCall(library_, given, {}, describe);
        !problem.ok()) {
      return problem.status();
    }
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (library_.numbers[i].is_flag) {
        arguments.emplace_back(numbers[i] != 0);
      } else {
        arguments.emplace_back(numbers[i]);
      }
    }
    return arguments;
  }

  const kernels::LibraryKernel& library_;
  const std::unique_ptr<runtime::Kernel> kernel_;
  SharedDevice* const shared_;
  std::string description_;
};

}  // namespace
}  // namespace telemetry::worker::embed

namespace {

using telemetry::worker::embed::EmbeddedKernel;
using telemetry::worker::embed::Finish;

EmbeddedKernel* Own(telemetry_kernel* kernel) { return reinterpret_cast<EmbeddedKernel*>(kernel); }

}  // namespace

int telemetry_kernels_version(void) { return TELEMETRY_KERNELS_VERSION; }

const char* telemetry_kernels_error(void) { return telemetry::worker::embed::LastError().c_str(); }

int telemetry_kernel_create(const char* device, const char* name, const char* config, telemetry_kernel** kernel) {
  absl::StatusOr<std::unique_ptr<EmbeddedKernel>> created = EmbeddedKernel::Create(device, name, config);
  *kernel = created.ok() ? reinterpret_cast<telemetry_kernel*>(created->release()) : nullptr;
  return Finish(created.status());
}

void telemetry_kernel_destroy(telemetry_kernel* kernel) { delete Own(kernel); }

const char* telemetry_kernel_describe(const telemetry_kernel* kernel) {
  return reinterpret_cast<const EmbeddedKernel*>(kernel)->description().c_str();
}

int telemetry_kernel_run(telemetry_kernel* kernel, const DLTensor* const* inputs, size_t input_count,
                         const double* numbers, size_t number_count, const DLTensor* const* outputs,
                         size_t output_count, const uint64_t* stream) {
  return Finish(Own(kernel)->Run({inputs, input_count}, {numbers, number_count}, {outputs, output_count},
                                 stream == nullptr ? std::nullopt : std::optional<uint64_t>(*stream)));
}

int telemetry_kernel_allocate(telemetry_kernel* kernel, const DLTensor* const* inputs, size_t input_count,
                              const double* numbers, size_t number_count, DLManagedTensor** outputs, size_t capacity,
                              size_t* count) {
  namespace runtime = telemetry::worker::runtime;
  *count = 0;
  absl::StatusOr<std::vector<runtime::Tensor>> tensors =
      Own(kernel)->Allocate({inputs, input_count}, {numbers, number_count});
  if (!tensors.ok()) return Finish(tensors.status());
  if (tensors->size() > capacity) {
    return Finish(absl::InvalidArgumentError(
        telemetry::record::Cat("there is room for ", capacity, " outputs, but the kernel has ", tensors->size())));
  }
  std::vector<runtime::dlpack::DLManagedTensor*> shared;
  absl::Status status;
  for (const runtime::Tensor& tensor : *tensors) {
    absl::StatusOr<runtime::dlpack::DLManagedTensor*> exported = runtime::ToDlpack(tensor);
    status = exported.status();
    if (!status.ok()) break;
    shared.push_back(*exported);
  }
  for (runtime::dlpack::DLManagedTensor* tensor : shared) {
    if (status.ok()) {
      outputs[(*count)++] = reinterpret_cast<DLManagedTensor*>(tensor);
    } else {
      tensor->deleter(tensor);
    }
  }
  return Finish(status);
}
