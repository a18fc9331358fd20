#include "worker/device/cublas.h"

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/device/library.h"

namespace telemetry::worker::device {

using record::Cat;

namespace {

// The types and constants of cuBLAS's documentation (docs.nvidia.com/cuda/cublas). Its pointers to device memory are
// the driver's.
using cublasStatus_t = int;
using cublasHandle_t = void*;
constexpr cublasStatus_t CUBLAS_STATUS_SUCCESS = 0;
constexpr int CUBLAS_OP_N = 0;
constexpr int CUBLAS_OP_T = 1;
constexpr int CUBLAS_COMPUTE_32F = 68;
constexpr int CUBLAS_GEMM_DEFAULT = -1;

// Returns the cudaDataType_t of a dtype.
std::optional<int> ToCudaDataType(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return 0;
    case DType::kF16:
      return 2;
    case DType::kBF16:
      return 14;
    default:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

struct Cublas::Api {
  cublasStatus_t (*create)(cublasHandle_t* handle);
  cublasStatus_t (*destroy)(cublasHandle_t handle);
  cublasStatus_t (*set_stream)(cublasHandle_t handle, CUstream stream);
  const char* (*status_name)(cublasStatus_t status);
  cublasStatus_t (*multiply)(cublasHandle_t handle, int transpose_a, int transpose_b, int m, int n, int k,
                             const void* alpha, CUdeviceptr a, int a_type, int lda, long long a_stride, CUdeviceptr b,
                             int b_type, int ldb, long long b_stride, const void* beta, CUdeviceptr c, int c_type,
                             int ldc, long long c_stride, int batch, int compute_type, int algorithm);

  static absl::StatusOr<Api> Load();
  absl::Status Check(cublasStatus_t status, std::string_view what) const {
    if (status == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
    return absl::InternalError(Cat(what, " failed: ", status_name(status)));
  }
};

absl::StatusOr<Cublas::Api> Cublas::Api::Load() {
  absl::StatusOr<SharedLibrary> library = SharedLibrary::OpenChosen(
      "TELEMETRY_CUBLAS", {"libcublas.so.13", "libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so"});
  if (!library.ok()) {
    return absl::UnavailableError(
        Cat("no cuBLAS: install NVIDIA's libcublas.so.13 (or 12), or set TELEMETRY_CUBLAS to its path (",
            library.status().message(), ")"));
  }
  Api api = {};
  const absl::Status status = FunctionBinder(*library)
                                  .Bind("cublasCreate_v2", &api.create)
                                  .Bind("cublasDestroy_v2", &api.destroy)
                                  .Bind("cublasSetStream_v2", &api.set_stream)
                                  .Bind("cublasGetStatusName", &api.status_name)
                                  .Bind("cublasGemmStridedBatchedEx", &api.multiply)
                                  .status();
  if (!status.ok()) return absl::UnavailableError(status.message());
  return api;
}

absl::StatusOr<const Cublas::Api*> Cublas::GetApi() {
  static const absl::StatusOr<Api>& api = *new absl::StatusOr<Api>(Api::Load());
  if (!api.ok()) return api.status();
  return &*api;
}

absl::StatusOr<std::unique_ptr<Cublas>> Cublas::Create(std::shared_ptr<const CudaContext> context) {
  ASSIGN_OR_RETURN(const Api* const api, GetApi());
  RETURN_IF_ERROR(context->MakeCurrent());
  std::unique_ptr<Cublas> made(new Cublas(std::move(context), api));
  RETURN_IF_ERROR(api->Check(api->create(&made->handle_), "cublasCreate"));
  return made;
}

Cublas::~Cublas() {
  if (handle_ != nullptr && context_->MakeCurrent().ok()) api_->destroy(handle_);
}

absl::Status Cublas::Multiply(const MatrixProduct& product) {
  const std::optional<int> type = ToCudaDataType(product.dtype);
  if (!type.has_value()) {
    return absl::UnimplementedError(Cat("cuBLAS does not multiply matrices of ", ShortName(product.dtype)));
  }
  // Only if another stream is used, because cublasSetStream also resets the workspace.
  if (stream_ != context_->stream()) {
    RETURN_IF_ERROR(api_->Check(api_->set_stream(handle_, context_->stream()), "cublasSetStream"));
    stream_ = context_->stream();
  }
  const float one = 1;
  const float zero = 0;
  const auto m = static_cast<int>(product.m);
  const auto n = static_cast<int>(product.n);
  const auto k = static_cast<int>(product.k);
  // A row-major matrix is the transpose of a column-major one: out^T = y^T x^T.
  const auto operation = [](const MatrixOperand& operand) {
    return operand.is_column_major ? CUBLAS_OP_T : CUBLAS_OP_N;
  };
  const cublasStatus_t status = api_->multiply(
      handle_, operation(product.y), operation(product.x), n, m, k, &one, product.y.buffer->handle(), *type,
      static_cast<int>(product.y.leading), product.y.batch_stride, product.x.buffer->handle(), *type,
      static_cast<int>(product.x.leading), product.x.batch_stride, &zero, product.out->handle(), *type, n,
      product.m * product.n, static_cast<int>(product.batch), CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  return api_->Check(status, "cublasGemmStridedBatchedEx");
}

}  // namespace telemetry::worker::device
