// ---- Products of matrices, or of batches of matrices, by cuBLAS: summed in float32, f32 without TF32.

void Check(cublasStatus_t result, const char* what) {
  if (result != CUBLAS_STATUS_SUCCESS) Fail(what, cublasGetStatusString(result));
}

// cuBLAS is column-major: a row-major matrix is a transposed matrix to cuBLAS.
struct Operand {
  cublasOperation_t operation;
  int leading;
  long long batch;
};

Operand OperandOf(const Layout& layout) {
  const size_t rank = layout.sizes.size();
  const int64_t rows = layout.sizes[rank - 2], columns = layout.sizes[rank - 1];
  const int64_t down = layout.strides[rank - 2], across = layout.strides[rank - 1];
  const long long batch = rank == 2 ? 0 : layout.strides[0];
  const bool in_rows = (across == 1 || columns == 1) && (down >= columns || rows == 1);
  if (in_rows) return {CUBLAS_OP_N, int(std::max(down, columns)), batch};
  return {CUBLAS_OP_T, int(std::max(across, rows)), batch};
}

void Product(const char* name, const Tensor& x, const Tensor& y, Buffer out) {
  static const cublasHandle_t handle = [] {
    cublasHandle_t created = nullptr;
    CHECK(cublasCreate(&created));
    return created;
  }();
  const size_t rank = x.layout.sizes.size();
  const int m = int(x.layout.sizes[rank - 2]), k = int(x.layout.sizes[rank - 1]), n = int(y.layout.sizes[rank - 1]);
  const int batches = rank == 2 ? 1 : int(x.layout.sizes[0]);
  const Operand a = OperandOf(x.layout), b = OperandOf(y.layout);
  const cudaDataType type = out.dtype == F32 ? CUDA_R_32F : out.dtype == F16 ? CUDA_R_16F : CUDA_R_16BF;
  const auto pointer = [](Buffer buffer) { return reinterpret_cast<void*>(buffer.pointer); };
  const float one = 1, zero = 0;
  Run(name, [&] {
    CHECK(cublasGemmStridedBatchedEx(handle, b.operation, a.operation, n, m, k, &one, pointer(y.buffer), type,
                                     b.leading, b.batch, pointer(x.buffer), type, a.leading, a.batch, &zero,
                                     pointer(out), type, n, (long long)m * n, batches, CUBLAS_COMPUTE_32F,
                                     CUBLAS_GEMM_DEFAULT));
  });
}
