// ---- Elements of a tensor that are written, or combined, on the host in double precision. Elements out of range are not
// written.

void HostScatter(const Tensor& target, size_t dimension, const Tensor& indices, const Tensor& values,
                 const std::string& reduce) {
  std::vector<double> elements = ValuesOf(target);
  const std::vector<double> positions = ValuesOf(indices), added = ValuesOf(values);
  const std::vector<int64_t>& sizes = target.layout.sizes;
  for (size_t i = 0; i < added.size(); ++i) {
    if (positions[i] < 0 || positions[i] >= double(sizes[dimension])) continue;
    std::vector<int64_t> index = values.layout.IndexOf(int64_t(i));
    index[dimension] = int64_t(positions[i]);
    int64_t offset = 0;
    for (size_t d = 0; d < sizes.size(); ++d) offset = offset * sizes[d] + index[d];
    double& element = elements[size_t(offset)];
    const bool is_extreme = reduce == "amax" || reduce == "amin";
    if (reduce.empty()) element = added[i];
    if (reduce == "sum") element += added[i];
    if (reduce == "prod") element *= added[i];
    if (is_extreme && !std::isnan(element) && !(reduce == "amax" ? element >= added[i] : element <= added[i])) {
      element = added[i];
    }
  }
  Upload(target.buffer, Encode(target.buffer.dtype, elements));
}
