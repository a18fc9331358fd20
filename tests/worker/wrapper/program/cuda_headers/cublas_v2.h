// Declarations of the functions that programs use from the header of this name in the CUDA toolkit, for machines
// without it. They are not defined.
#pragma once

// The types and constants that programs use.
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS };
// The operation applied to an input matrix: N (none) or T (transpose).
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
// The type in which a GEMM computes.
enum cublasComputeType_t { CUBLAS_COMPUTE_32F };
// The algorithm of a GEMM.
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT };
// The element type of a matrix.
enum cudaDataType { CUDA_R_32F, CUDA_R_16F, CUDA_R_16BF };
using cublasHandle_t = struct cublasContext*;

const char* cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasCreate(cublasHandle_t* handle);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t operation_a,
                                          cublasOperation_t operation_b, int m, int n, int k, const void* alpha,
                                          const void* a, cudaDataType a_type, int a_leading, long long a_stride,
                                          const void* b, cudaDataType b_type, int b_leading, long long b_stride,
                                          const void* beta, void* c, cudaDataType c_type, int c_leading,
                                          long long c_stride, int batches, cublasComputeType_t compute,
                                          cublasGemmAlgo_t algorithm);
