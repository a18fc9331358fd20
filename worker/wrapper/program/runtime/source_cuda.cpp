
// `name` is an expression of C++ that names the kernel.
Kernel CompileSource(const char* name, const char* source, const std::vector<const char*>& options) {
  std::string function = name;
  Kernel kernel = {};
  const CUmodule module = CompileModule(source, options, true, &function);
  CHECK(cuModuleGetFunction(&kernel.function, module, function.c_str()));
  return kernel;
}

template <typename... Arguments>
void QueueSource(Kernel kernel, const LaunchShape& shape, const Arguments&... arguments) {
  void* values[] = {const_cast<void*>(static_cast<const void*>(&ValueOf(arguments)))...};
  AllowShared(kernel, shape.shared_bytes);
  CHECK(cuLaunchKernel(kernel.function, unsigned(shape.blocks[0]), unsigned(shape.blocks[1]), unsigned(shape.blocks[2]),
                       unsigned(shape.threads[0]), unsigned(shape.threads[1]), unsigned(shape.threads[2]),
                       unsigned(shape.shared_bytes), nullptr, values, nullptr));
}
