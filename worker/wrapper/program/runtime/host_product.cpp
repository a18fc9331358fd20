// ---- Products of matrices, or of batches of matrices, on the host in double precision.

void HostProduct(const Tensor& x, const Tensor& y, Buffer out) {
  const std::vector<double> a = ValuesOf(x), b = ValuesOf(y);
  const size_t rank = x.layout.sizes.size();
  const size_t m = size_t(x.layout.sizes[rank - 2]), k = size_t(x.layout.sizes[rank - 1]);
  const size_t n = size_t(y.layout.sizes[rank - 1]), batches = rank == 2 ? 1 : size_t(x.layout.sizes[0]);
  std::vector<double> sums(batches * m * n);
  for (size_t row = 0; row < batches * m; ++row) {
    const size_t first = row / m * k;  // the first row of this batch in b
    for (size_t i = 0; i < k; ++i) {
      for (size_t j = 0; j < n; ++j) sums[row * n + j] += a[row * k + i] * b[(first + i) * n + j];
    }
  }
  Upload(out, Encode(out.dtype, sums));
}
