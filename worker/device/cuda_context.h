#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "worker/device/cuda_api.h"
#include "worker/device/device.h"

namespace telemetry::worker::device {

// A reference to a CUDA device's primary context, with one stream. Memory, modules and events of the context share it.
// The first MakeCurrent opens it: that takes 0.1 s, or 0.2 s while another process does the same, and processes that
// only read the properties need none.
class CudaContext {
 public:
  CudaContext(const CudaApi* api, const DeviceProperties& properties) : api_(api), properties_(properties) {}
  ~CudaContext();
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  const CudaApi& api() const { return *api_; }
  const DeviceProperties& properties() const { return properties_; }
  // Returns the stream that work is queued in: that of the last UseStream, at first the context's own. The context must
  // be open.
  CUstream stream() const { return stream_.value_or(own_stream_); }
  // Queues later work in another stream, which the caller keeps until the next call; unset: in the context's own. Must
  // not be called while another thread uses the context.
  void UseStream(std::optional<CUstream> stream) const { stream_ = stream; }

  // Makes the context current for the calling thread. Every public entry point calls this first. INTERNAL: an error of
  // the driver; the next call tries again.
  absl::Status MakeCurrent() const;
  // FAILED_PRECONDITION: the stream is being captured into a graph, so `what` would make the capture invalid.
  absl::Status CheckNotCapturing(std::string_view what) const;
  // Returns CudaStatus() for a call of the driver's function `what`.
  absl::Status Check(CUresult result, std::string_view what) const;

 private:
  absl::Status Open() const ABSL_LOCKS_EXCLUDED(opening_);
  absl::Status SetCurrent() const { return Check(api_->context_set_current(context_), "cuCtxSetCurrent"); }

  const CudaApi* const api_;
  const DeviceProperties properties_;
  mutable absl::Mutex opening_;
  mutable std::atomic<bool> is_open_ = false;
  // Constant while is_open_.
  mutable CUdevice device_ = 0;
  mutable CUcontext context_ = nullptr;
  mutable CUstream own_stream_ = nullptr;
  mutable std::optional<CUstream> stream_;  // unset: own_stream_
};

// Owns one object of the driver; `release` is the driver's function that frees it.
template <typename Handle, CUresult (*CudaApi::*release)(Handle)>
class CudaHandle {
 public:
  CudaHandle(std::shared_ptr<const CudaContext> context, Handle handle)
      : context_(std::move(context)), handle_(handle) {}
  CudaHandle(CudaHandle&& other) noexcept = default;  // leaves `other` without a context
  CudaHandle& operator=(CudaHandle&&) = delete;
  ~CudaHandle() {
    // After a sticky error nothing can be freed; the process has to end.
    if (context_ != nullptr && context_->MakeCurrent().ok()) (context_->api().*release)(handle_);
  }

  const Handle& get() const { return handle_; }
  const std::shared_ptr<const CudaContext>& context() const { return context_; }

 private:
  std::shared_ptr<const CudaContext> context_;
  Handle handle_;
};

using CudaMemoryHandle = CudaHandle<CUdeviceptr, &CudaApi::mem_free>;
using CudaEventHandle = CudaHandle<CUevent, &CudaApi::event_destroy>;
using CudaModuleHandle = CudaHandle<CUmodule, &CudaApi::module_unload>;

}  // namespace telemetry::worker::device
