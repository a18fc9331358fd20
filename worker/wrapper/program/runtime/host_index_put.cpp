// ---- Rows of a tensor that are written, or added to, on the host in double precision. Rows out of range are not written.

void HostIndexPut(const Tensor& target, const Tensor& indices, const Tensor& values, bool accumulate) {
  std::vector<double> rows = ValuesOf(target);
  const std::vector<double> positions = ValuesOf(indices), added = ValuesOf(values);
  const size_t columns = positions.empty() ? 0 : added.size() / positions.size();
  for (size_t i = 0; i < positions.size(); ++i) {
    if (positions[i] < 0 || positions[i] >= double(target.layout.sizes[0])) continue;
    for (size_t j = 0; j < columns; ++j) {
      double& element = rows[size_t(positions[i]) * columns + j];
      element = accumulate ? element + added[i * columns + j] : added[i * columns + j];
    }
  }
  Upload(target.buffer, Encode(target.buffer.dtype, rows));
}
