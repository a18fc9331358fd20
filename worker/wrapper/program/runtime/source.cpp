// ---- Launches of kernels that are given as source.

struct LaunchShape {
  size_t blocks[3], threads[3];
  size_t shared_bytes;
  bool is_repeatable;  // a repeated launch has the same results
};

template <typename... Arguments>
void LaunchSource(const char* name, Kernel kernel, const LaunchShape& shape, const Arguments&... arguments) {
  const auto queue_launch = [&] { QueueSource(kernel, shape, arguments...); };
  if (!shape.is_repeatable) return queue_launch();
  Run(name, queue_launch);
}
