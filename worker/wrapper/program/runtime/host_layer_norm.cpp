// ---- Layer norm on the host in double precision.

void HostLayerNorm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps, Buffer out, Buffer mean,
                   Buffer rstd) {
  std::vector<double> values = ValuesOf(x);
  const std::vector<double> weights = ValuesOf(weight), biases = ValuesOf(bias);
  const size_t rows = size_t(x.layout.sizes[0]), columns = size_t(x.layout.sizes[1]);
  std::vector<double> means(rows), rstds(rows);
  for (size_t i = 0; i < rows; ++i) {
    double* const row = values.data() + i * columns;
    double variance = 0;
    for (size_t j = 0; j < columns; ++j) means[i] += row[j] / double(columns);
    for (size_t j = 0; j < columns; ++j) variance += (row[j] - means[i]) * (row[j] - means[i]) / double(columns);
    rstds[i] = 1 / std::sqrt(variance + eps);
    for (size_t j = 0; j < columns; ++j) row[j] = (row[j] - means[i]) * rstds[i] * weights[j] + biases[j];
  }
  Upload(out, Encode(out.dtype, values));
  Upload(mean, Encode(mean.dtype, means));
  Upload(rstd, Encode(rstd.dtype, rstds));
}
