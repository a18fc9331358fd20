#include "worker/device/opencl_device.h"

#include <algorithm>
#include <bit>
#include <new>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "worker/device/interop.h"
#include "worker/device/launch_checks.h"
#include "worker/device/opencl_context.h"
#include "worker/device/opencl_module.h"
#include "worker/device/opencl_program.h"

namespace telemetry::worker::device {
namespace {

// A marker in an OpenCL queue.
class OpenClEvent final : public Event {
 public:
  OpenClEvent(std::shared_ptr<const OpenClContext> context, OpenClEventHandle event)
      : context_(std::move(context)), event_(std::move(event)) {}

  const OpenClContext* context() const { return context_.get(); }

  absl::Status Wait() const {
    return OpenClStatus(context_->api().wait_for_events(1, &event_.get()), "clWaitForEvents");
  }

  // Returns the time, by the device's clock, at which all work queued before had ended. Call after Wait().
  absl::StatusOr<cl_ulong> EndNs() const {
    cl_ulong end_ns = 0;
    const cl_int result =
        context_->api().get_profiling_info(event_.get(), CL_PROFILING_COMMAND_END, sizeof(end_ns), &end_ns, nullptr);
    if (result != CL_SUCCESS) return OpenClStatus(result, "clGetEventProfilingInfo");
    return end_ns;
  }

 private:
  const std::shared_ptr<const OpenClContext> context_;
  const OpenClEventHandle event_;
};

// The program's thread has no state to restore.
class OpenClStreamUse final : public StreamUse {};

class OpenClDevice final : public Device, public Interop {
 public:
  explicit OpenClDevice(std::shared_ptr<const OpenClContext> context) : context_(std::move(context)) {}

  const DeviceProperties& properties() const override { return context_->properties(); }
  std::string id() const override { return DeviceId(properties()); }

  absl::StatusOr<std::unique_ptr<Buffer>> Allocate(size_t size_bytes) override {
    return AllocateOpenClBuffer(context_, size_bytes);
  }

  absl::StatusOr<std::unique_ptr<Buffer>> View(const Buffer* whole, size_t offset_bytes, size_t size_bytes) override {
    const OpenClBuffer* own = OwnBuffer(*context_, whole);
    if (own == nullptr) return ForeignObject("view");
    RETURN_IF_ERROR(CheckView(offset_bytes, size_bytes, own->size_bytes()));
    return ViewOpenClBuffer(context_, *own, offset_bytes, size_bytes);
  }

  absl::Status Upload(Buffer* to, size_t offset_bytes, absl::Span<const std::byte> from) override {
    const absl::StatusOr<cl_mem> memory = Range("upload", to, offset_bytes, from.size());
    if (!memory.ok() || from.empty()) return memory.status();
    return OpenClStatus(
        api().enqueue_write(queue(), *memory, CL_TRUE, offset_bytes, from.size(), from.data(), 0, nullptr, nullptr),
        "clEnqueueWriteBuffer");
  }

  absl::Status Download(const Buffer* from, size_t offset_bytes, absl::Span<std::byte> to) override {
    const absl::StatusOr<cl_mem> memory = Range("download", from, offset_bytes, to.size());
    if (!memory.ok() || to.empty()) return memory.status();
    return OpenClStatus(
        api().enqueue_read(queue(), *memory, CL_TRUE, offset_bytes, to.size(), to.data(), 0, nullptr, nullptr),
        "clEnqueueReadBuffer");
  }

  absl::Status Fill(Buffer* buffer, uint8_t value) override {
    const absl::StatusOr<cl_mem> memory = Range("fill", buffer, 0, 0);
    if (!memory.ok() || buffer->size_bytes() == 0) return memory.status();
    return OpenClStatus(
        api().enqueue_fill(queue(), *memory, &value, sizeof(value), 0, buffer->size_bytes(), 0, nullptr, nullptr),
        "clEnqueueFillBuffer");
  }

  absl::Status Copy(Buffer* to, const Buffer* from, size_t size_bytes) override {
    ASSIGN_OR_RETURN(const cl_mem target, Range("copy to", to, 0, size_bytes));
    const absl::StatusOr<cl_mem> source = Range("copy from", from, 0, size_bytes);
    if (!source.ok() || size_bytes == 0 || to == from) return source.status();
    return OpenClStatus(api().enqueue_copy(queue(), *source, target, 0, 0, size_bytes, 0, nullptr, nullptr),
                        "clEnqueueCopyBuffer");
  }

  absl::Status Multiply(const MatrixProduct& /*product*/) override {
    return absl::UnavailableError("OpenCL has no matrix product library");
  }

  absl::StatusOr<CompiledCode> Compile(const std::string& source) override { return CompileOpenCl(*context_, source); }

  absl::StatusOr<std::unique_ptr<Module>> Load(const CompiledCode& code) override {
    return LoadOpenClModule(context_, code);
  }

  absl::StatusOr<std::unique_ptr<Event>> Record() override {
    ASSIGN_OR_RETURN(OpenClEventHandle event, Mark());
    return std::make_unique<OpenClEvent>(context_, std::move(event));
  }

  absl::StatusOr<double> ElapsedMs(const Event& begin, const Event& end) override {
    const auto* first = dynamic_cast<const OpenClEvent*>(&begin);
    const auto* last = dynamic_cast<const OpenClEvent*>(&end);
    if (first == nullptr || last == nullptr || first->context() != context_.get() ||
        last->context() != context_.get()) {
      return ForeignObject("elapsed time");
    }
    RETURN_IF_ERROR(last->Wait());
    RETURN_IF_ERROR(first->Wait());
    const absl::StatusOr<cl_ulong> begin_ns = first->EndNs();
    const absl::StatusOr<cl_ulong> end_ns = last->EndNs();
    if (!begin_ns.ok()) return begin_ns.status();
    if (!end_ns.ok()) return end_ns.status();
    return (static_cast<double>(*end_ns) - static_cast<double>(*begin_ns)) * 1e-6;
  }

  // Waits for a marker, because clFinish does not report that a command failed.
  absl::Status Synchronize() override {
    ASSIGN_OR_RETURN(OpenClEventHandle event, Mark());
    return OpenClStatus(api().wait_for_events(1, &event.get()), "clWaitForEvents");
  }

  absl::StatusOr<std::unique_ptr<Buffer>> Wrap(uint64_t address, size_t size_bytes,
                                               std::shared_ptr<const void> owner) override {
    return WrapHostMemory(context_, address, size_bytes, std::move(owner));
  }

  absl::StatusOr<std::unique_ptr<Buffer>> AllocateAddressable(size_t size_bytes) override {
    constexpr std::align_val_t kAlignment{kViewAlignment};
    void* const host = ::operator new(std::max<size_t>(size_bytes, 1), kAlignment, std::nothrow);
    if (host == nullptr) {
      return absl::ResourceExhaustedError(absl::StrCat("cannot allocate ", size_bytes, " bytes of host memory"));
    }
    return Wrap(reinterpret_cast<uint64_t>(host), size_bytes,
                std::shared_ptr<void>(host, [](void* memory) { ::operator delete(memory, kAlignment); }));
  }

  bool on_host() const override { return true; }

  absl::StatusOr<uint64_t> Address(const Buffer& buffer) const override {
    const OpenClBuffer* own = OwnBuffer(*context_, &buffer);
    if (own == nullptr) return ForeignObject("address");
    if (own->host() == nullptr && own->size_bytes() > 0) {
      return absl::FailedPreconditionError("memory that OpenCL allocated has no address in this program");
    }
    return reinterpret_cast<uint64_t>(own->host());
  }

  // Reads the memory to its own place, which OpenCL allows after all commands on it have completed.
  absl::Status Publish(Buffer* buffer) override {
    ASSIGN_OR_RETURN(const uint64_t address, Address(*buffer));
    RETURN_IF_ERROR(Synchronize());
    return Download(buffer, 0, {std::bit_cast<std::byte*>(address), buffer->size_bytes()});
  }

  absl::StatusOr<std::unique_ptr<StreamUse>> UseStream(std::optional<uint64_t> stream) override {
    if (!stream.has_value()) return std::make_unique<OpenClStreamUse>();
    return absl::UnimplementedError(absl::StrCat(id(), ": only CUDA devices can use a stream of the program"));
  }

 private:
  const OpenClApi& api() const { return context_->api(); }
  cl_command_queue queue() const { return context_->queue(); }

  absl::StatusOr<cl_mem> Range(const std::string& what, const Buffer* buffer, size_t offset_bytes, size_t bytes) const {
    const OpenClBuffer* own = OwnBuffer(*context_, buffer);
    if (own == nullptr) return ForeignObject(what);
    RETURN_IF_ERROR(CheckRange(what, offset_bytes, bytes, own->size_bytes()));
    return own->memory();
  }

  // The queue runs in order, so a marker completes when all commands before it have completed.
  absl::StatusOr<OpenClEventHandle> Mark() const {
    cl_event event = nullptr;
    const cl_int result = api().enqueue_marker(queue(), 0, nullptr, &event);
    if (result != CL_SUCCESS) return OpenClStatus(result, "clEnqueueMarkerWithWaitList");
    return OpenClEventHandle(&api(), event);
  }

  const std::shared_ptr<const OpenClContext> context_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<Device>> OpenOpenClDevice(const OpenClApi* api, const OpenClDeviceEntry& entry) {
  ASSIGN_OR_RETURN(std::shared_ptr<const OpenClContext> context, OpenClContext::Create(api, entry));
  return std::make_shared<OpenClDevice>(std::move(context));
}

}  // namespace telemetry::worker::device
