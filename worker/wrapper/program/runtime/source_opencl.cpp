
Kernel CompileSource(const char* name, const char* source, const std::vector<const char*>& options) {
  std::string joined;
  for (const char* option : options) joined += (joined.empty() ? "" : " ") + std::string(option);
  return Compile(name, source, joined.c_str());
}

template <typename... Arguments>
void QueueSource(Kernel kernel, const LaunchShape& shape, const Arguments&... arguments) {
  cl_uint index = 0;
  (CHECK(clSetKernelArg(kernel.kernel, index++, sizeof(ValueOf(arguments)), &ValueOf(arguments))), ...);
  if (shape.shared_bytes > 0) CHECK(clSetKernelArg(kernel.kernel, index, shape.shared_bytes, nullptr));
  size_t global[3];
  for (int axis = 0; axis < 3; ++axis) global[axis] = shape.blocks[axis] * shape.threads[axis];
  CHECK(clEnqueueNDRangeKernel(queue, kernel.kernel, 3, nullptr, global, shape.threads, 0, nullptr, nullptr));
}
