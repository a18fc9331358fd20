// ---- The kernel on CUDA.

struct CompiledCode {
  CUmodule module;
  Kernel kernel;
};

CompiledCode CompileCode(const Code& code) {
  std::string function = code.function;
  CompiledCode compiled = {};
  compiled.module = CompileModule(code.source, code.options, true, &function);
  CHECK(cuModuleGetFunction(&compiled.kernel.function, compiled.module, function.c_str()));
  AllowShared(compiled.kernel, code.shared_bytes);
  return compiled;
}

void SetVariable(const CompiledCode& compiled, const Argument& argument, const Bytes& bytes) {
  CUdeviceptr variable = 0;
  size_t size = 0;
  CHECK(cuModuleGetGlobal(&variable, &size, compiled.module, argument.name));
  CHECK(cuMemcpyHtoD(variable, bytes.data(), std::min(size, bytes.size())));
}

// `values` has the bytes of each scalar.
void QueueCode(const CompiledCode& compiled, const Code& code, const std::vector<Buffer>& buffers,
               const std::vector<Bytes>& values) {
  std::vector<void*> pointers;
  for (size_t i = 0; i < kArguments.size(); ++i) {
    const Kind kind = kArguments[i].kind;
    if (kind == kScalar) pointers.push_back(const_cast<unsigned char*>(values[i].data()));
    if (kind == kRead || kind == kWritten) pointers.push_back(const_cast<CUdeviceptr*>(&buffers[i].pointer));
  }
  CHECK(cuLaunchKernel(compiled.kernel.function, unsigned(code.blocks[0]), unsigned(code.blocks[1]),
                       unsigned(code.blocks[2]), unsigned(code.threads[0]), unsigned(code.threads[1]),
                       unsigned(code.threads[2]), unsigned(code.shared_bytes), nullptr, pointers.data(), nullptr));
}
