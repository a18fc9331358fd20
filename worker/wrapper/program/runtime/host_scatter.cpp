// ---- Elements of a tensor that are written, or combined, on the host in double precision. Elements out of range are not
// written.

void HostScatterValues(const Tensor& target, size_t dimension, const Tensor& indices, const std::vector<double>& added,
                       const std::string& reduce) {
  std::vector<double> elements = ValuesOf(target);
  std::vector<double> counts(elements.size(), 1);  // of the element and of those that were added
  const std::vector<double> positions = ValuesOf(indices);
  const std::vector<int64_t>& sizes = target.layout.sizes;
  for (size_t i = 0; i < added.size(); ++i) {
    if (positions[i] < 0 || positions[i] >= double(sizes[dimension])) continue;
    std::vector<int64_t> index = indices.layout.IndexOf(int64_t(i));
    index[dimension] = int64_t(positions[i]);
    int64_t offset = 0;
    for (size_t d = 0; d < sizes.size(); ++d) offset = offset * sizes[d] + index[d];
    double& element = elements[size_t(offset)];
    const bool is_extreme = reduce == "amax" || reduce == "amin";
    if (reduce.empty()) element = added[i];
    if (reduce == "sum" || reduce == "mean") element += added[i];
    if (reduce == "prod") element *= added[i];
    if (is_extreme && !std::isnan(element) && !(reduce == "amax" ? element >= added[i] : element <= added[i])) {
      element = added[i];
    }
    ++counts[size_t(offset)];
  }
  for (size_t i = 0; i < elements.size() && reduce == "mean"; ++i) elements[i] /= counts[i];
  Upload(target.buffer, Encode(target.buffer.dtype, elements));
}

void HostScatter(const Tensor& target, size_t dimension, const Tensor& indices, const Tensor& values,
                 const std::string& reduce) {
  HostScatterValues(target, dimension, indices, ValuesOf(values), reduce);
}

void HostScatter(const Tensor& target, size_t dimension, const Tensor& indices, double number,
                 const std::string& reduce) {
  HostScatterValues(target, dimension, indices, std::vector<double>(ValuesOf(indices).size(), number), reduce);
}
