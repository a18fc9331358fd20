#include "worker/device/cuda_device.h"

#include <bit>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "worker/device/compile_cuda.h"
#include "worker/device/cublas.h"
#include "worker/device/cuda_context.h"
#include "worker/device/cuda_memory.h"
#include "worker/device/cuda_module.h"
#include "worker/device/interop.h"
#include "worker/device/launch_checks.h"

namespace telemetry::worker::device {
namespace {

// Restores the context's own stream and the current context of the thread.
class CudaStreamUse final : public StreamUse {
 public:
  CudaStreamUse(std::shared_ptr<const CudaContext> context, CUcontext before)
      : context_(std::move(context)), before_(before) {}
  ~CudaStreamUse() override {
    context_->UseStream(std::nullopt);
    context_->api().context_set_current(before_);
  }

 private:
  const std::shared_ptr<const CudaContext> context_;
  const CUcontext before_;
};

class CudaDevice final : public Device, public Interop {
 public:
  explicit CudaDevice(std::shared_ptr<const CudaContext> context) : context_(std::move(context)) {}

  const DeviceProperties& properties() const override { return context_->properties(); }
  std::string id() const override { return DeviceId(properties()); }

  absl::StatusOr<std::unique_ptr<Buffer>> Allocate(size_t size_bytes) override {
    return AllocateCudaBuffer(context_, size_bytes);
  }

  absl::StatusOr<std::unique_ptr<Buffer>> View(const Buffer* whole, size_t offset_bytes, size_t size_bytes) override {
    const CudaBuffer* own = OwnBuffer(*context_, whole);
    if (own == nullptr) return ForeignObject("view");
    RETURN_IF_ERROR(CheckView(offset_bytes, size_bytes, own->size_bytes()));
    return std::make_unique<CudaBuffer>(*own, offset_bytes, size_bytes);
  }

  absl::Status Upload(Buffer* to, size_t offset_bytes, absl::Span<const std::byte> from) override {
    absl::Status status = Begin("upload", to, offset_bytes, from.size());
    if (!status.ok() || from.empty()) return status;
    return Finish(api().memcpy_to_device(to->handle() + offset_bytes, from.data(), from.size(), context_->stream()),
                  "cuMemcpyHtoDAsync");
  }

  absl::Status Download(const Buffer* from, size_t offset_bytes, absl::Span<std::byte> to) override {
    absl::Status status = Begin("download", from, offset_bytes, to.size());
    if (!status.ok() || to.empty()) return status;
    return Finish(api().memcpy_to_host(to.data(), from->handle() + offset_bytes, to.size(), context_->stream()),
                  "cuMemcpyDtoHAsync");
  }

  absl::Status Fill(Buffer* buffer, uint8_t value) override {
    absl::Status status = Begin("fill", buffer, 0, 0);
    if (!status.ok() || buffer->size_bytes() == 0) return status;
    return context_->Check(api().memset_bytes(buffer->handle(), value, buffer->size_bytes(), context_->stream()),
                           "cuMemsetD8Async");
  }

  absl::Status Copy(Buffer* to, const Buffer* from, size_t size_bytes) override {
    absl::Status status = Begin("copy to", to, 0, size_bytes);
    if (status.ok()) status = Begin("copy from", from, 0, size_bytes);
    if (!status.ok() || size_bytes == 0 || to == from) return status;
    return context_->Check(api().memcpy_on_device(to->handle(), from->handle(), size_bytes, context_->stream()),
                           "cuMemcpyDtoDAsync");
  }

  absl::Status Multiply(const MatrixProduct& product) override {
    absl::Status status = CheckProduct(product);
    if (!status.ok()) return status;
    const MatrixOperand out = MatrixOperand::Dense(product.out, product.m, product.n);
    const size_t out_bytes = OperandBytes(product, out, product.m, product.n);
    status = Begin("matrix product, x", product.x.buffer, 0, OperandBytes(product, product.x, product.m, product.k));
    if (status.ok()) {
      status = Begin("matrix product, y", product.y.buffer, 0, OperandBytes(product, product.y, product.k, product.n));
    }
    if (status.ok()) status = Begin("matrix product, out", product.out, 0, out_bytes);
    if (!status.ok() || out_bytes == 0) return status;
    if (product.k == 0) {  // an empty sum, which the library does not support
      return context_->Check(api().memset_bytes(product.out->handle(), 0, out_bytes, context_->stream()),
                             "cuMemsetD8Async");
    }
    if (cublas_ == nullptr) {
      ASSIGN_OR_RETURN(std::unique_ptr<Cublas> made, Cublas::Create(context_));
      cublas_ = std::move(made);
    }
    return cublas_->Multiply(product);
  }

  absl::StatusOr<CompiledCode> Compile(const std::string& source) override {
    return CompileCuda(source, properties().architecture);
  }

  absl::StatusOr<std::unique_ptr<Module>> Load(const CompiledCode& code) override {
    return LoadCudaModule(context_, code);
  }

  absl::StatusOr<std::unique_ptr<Event>> Record() override {
    RETURN_IF_ERROR(context_->MakeCurrent());
    CUevent event = nullptr;
    const CUresult created = api().event_create(&event, CU_EVENT_DEFAULT);
    if (created != CUDA_SUCCESS) return context_->Check(created, "cuEventCreate");
    CudaEventHandle owned(context_, event);
    const CUresult recorded = api().event_record(event, context_->stream());
    if (recorded != CUDA_SUCCESS) return context_->Check(recorded, "cuEventRecord");
    return std::make_unique<CudaEvent>(std::move(owned));
  }

  absl::StatusOr<double> ElapsedMs(const Event& begin, const Event& end) override {
    const CudaEvent* first = OwnEvent(*context_, begin);
    const CudaEvent* last = OwnEvent(*context_, end);
    if (first == nullptr || last == nullptr) return ForeignObject("elapsed time");
    RETURN_IF_ERROR(context_->MakeCurrent());
    float elapsed_ms = 0;
    absl::Status status = context_->Check(api().event_synchronize(last->get()), "cuEventSynchronize");
    if (status.ok()) {
      status = context_->Check(api().event_elapsed_time(&elapsed_ms, first->get(), last->get()), "cuEventElapsedTime");
    }
    if (!status.ok()) return status;
    return elapsed_ms;
  }

  absl::Status Synchronize() override {
    RETURN_IF_ERROR(context_->MakeCurrent());
    return Finish(CUDA_SUCCESS, "");
  }

  absl::StatusOr<std::unique_ptr<Buffer>> Wrap(uint64_t address, size_t size_bytes,
                                               std::shared_ptr<const void> owner) override {
    return WrapCudaMemory(context_, address, size_bytes, std::move(owner));
  }

  absl::StatusOr<std::unique_ptr<Buffer>> AllocateAddressable(size_t size_bytes) override {
    return Allocate(size_bytes);
  }

  bool on_host() const override { return false; }

  absl::StatusOr<uint64_t> Address(const Buffer& buffer) const override {
    if (OwnBuffer(*context_, &buffer) == nullptr) return ForeignObject("address");
    return buffer.handle();
  }

  absl::Status Publish(Buffer* /*buffer*/) override { return absl::OkStatus(); }

  absl::StatusOr<std::unique_ptr<StreamUse>> UseStream(std::optional<uint64_t> stream) override {
    CUcontext before = nullptr;
    RETURN_IF_ERROR(context_->Check(api().context_get_current(&before), "cuCtxGetCurrent"));
    if (stream.has_value()) context_->UseStream(std::bit_cast<CUstream>(*stream));
    return std::make_unique<CudaStreamUse>(context_, before);
  }

 private:
  const CudaApi& api() const { return context_->api(); }

  absl::Status Begin(const std::string& what, const Buffer* buffer, size_t offset_bytes, size_t bytes) const {
    if (OwnBuffer(*context_, buffer) == nullptr) return ForeignObject(what);
    RETURN_IF_ERROR(CheckRange(what, offset_bytes, bytes, buffer->size_bytes()));
    return context_->MakeCurrent();
  }

  // Waits for all queued work. `queued` is the result of the last call that queued work.
  absl::Status Finish(CUresult queued, std::string_view what) const {
    if (queued != CUDA_SUCCESS) return context_->Check(queued, what);
    return context_->Check(api().stream_synchronize(context_->stream()), "cuStreamSynchronize");
  }

  const std::shared_ptr<const CudaContext> context_;
  std::unique_ptr<Cublas> cublas_;  // null until the first product
};

}  // namespace

absl::StatusOr<std::shared_ptr<Device>> OpenCudaDevice(const DeviceProperties& properties) {
  ASSIGN_OR_RETURN(const CudaApi* const api, GetCudaApi());
  return MakeCudaDevice(std::make_shared<const CudaContext>(api, properties));
}

std::shared_ptr<Device> MakeCudaDevice(std::shared_ptr<const CudaContext> context) {
  return std::make_shared<CudaDevice>(std::move(context));
}

}  // namespace telemetry::worker::device
