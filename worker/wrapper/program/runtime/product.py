# ---- Products of matrices, or of batches of matrices, by cuBLAS: summed in float32, f32 without TF32.


def operand(array):
    """Returns the operation, the leading dimension and the stride of the batch. To cuBLAS, rows are columns."""
    rows, columns = array.shape[-2:]
    down, across = (stride // array.itemsize for stride in array.strides[-2:])
    batch = array.strides[0] // array.itemsize if array.ndim == 3 else 0
    if (across == 1 or columns == 1) and (down >= columns or rows == 1):
        return 0, max(down, columns), batch
    return 1, max(across, rows), batch


def extern_product(name, dtype, x, y, out):
    from cupy_backends.cuda.libs import cublas

    # cudaDataType_t, CUBLAS_COMPUTE_32F and CUBLAS_GEMM_DEFAULT in the headers of CUDA.
    data_type, compute_type, algorithm = {"f32": 0, "f16": 2, "bf16": 14}[dtype], 68, -1
    one, zero = np.ones(1, np.float32), np.zeros(1, np.float32)
    m, k, n = x.shape[-2], x.shape[-1], y.shape[-1]
    batches = x.shape[0] if x.ndim == 3 else 1
    (x_operation, x_leading, x_batch), (y_operation, y_leading, y_batch) = operand(x), operand(y)
    first, second = (y.data.ptr, data_type, y_leading, y_batch), (x.data.ptr, data_type, x_leading, x_batch)
    result = (out.data.ptr, data_type, n, m * n)
    handle, alpha, beta = cupy.cuda.device.get_cublas_handle(), one.ctypes.data, zero.ctypes.data
    sizes = (y_operation, x_operation, n, m, k)
    run(
        name,
        lambda: cublas.gemmStridedBatchedEx(
            handle, *sizes, alpha, *first, *second, beta, *result, batches, compute_type, algorithm
        ),
    )
