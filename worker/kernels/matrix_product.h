#pragma once

#include <algorithm>
#include <cstdint>

namespace telemetry::worker::kernels {

// The shape of a matrix product: (m x k) times (k x n).
struct ProductShape {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
};

// Computes out[m, n] = x[m, k] * y[k, n] for references. All matrices are dense and row-major.
inline void WriteProduct(const ProductShape& shape, const double* x, const double* y, double* out) {
  std::fill(out, out + shape.m * shape.n, 0.0);
  for (int64_t i = 0; i < shape.m; ++i) {
    for (int64_t k = 0; k < shape.k; ++k) {
      const double factor = x[i * shape.k + k];
      for (int64_t j = 0; j < shape.n; ++j) out[i * shape.n + j] += factor * y[k * shape.n + j];
    }
  }
}

}  // namespace telemetry::worker::kernels
