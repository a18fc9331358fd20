// ---- Tensors one behind the other, along a dimension, which the host copies.

void HostConcatenate(const std::vector<Tensor>& tensors, size_t dimension, const Buffer& out) {
  size_t rows = 1;  // the number of parts that each tensor has
  for (size_t d = 0; d < dimension; ++d) rows *= size_t(tensors[0].layout.sizes[d]);
  std::vector<std::vector<double>> parts;
  for (const Tensor& tensor : tensors) parts.push_back(ValuesOf(tensor));
  std::vector<double> all;
  for (size_t row = 0; row < rows; ++row) {
    for (const std::vector<double>& part : parts) {
      const size_t length = part.size() / rows;
      all.insert(all.end(), part.begin() + std::ptrdiff_t(row * length), part.begin() + std::ptrdiff_t((row + 1) * length));
    }
  }
  Upload(out, Encode(out.dtype, all));
}
