// ---- The kernel on OpenCL.

using CompiledCode = Kernel;

CompiledCode CompileCode(const Code& code) {
  std::string options;
  for (const char* option : code.options) options += (options.empty() ? "" : " ") + std::string(option);
  return Compile(code.function, code.source, options.c_str());
}

void SetVariable(const CompiledCode&, const Argument& argument, const Bytes&) {
  Fail(argument.name, "OpenCL has no variables that the host sets");
}

// `values` has the bytes of each scalar.
void QueueCode(const CompiledCode& compiled, const Code& code, const std::vector<Buffer>& buffers,
               const std::vector<Bytes>& values) {
  for (size_t i = 0; i < kArguments.size(); ++i) {
    const Argument& argument = kArguments[i];
    const cl_uint index = cl_uint(i);
    if (argument.kind == kScalar) {
      CHECK(clSetKernelArg(compiled.kernel, index, values[i].size(), values[i].data()));
    } else if (argument.kind == kLocal) {
      CHECK(clSetKernelArg(compiled.kernel, index, argument.bytes, nullptr));
    } else {
      CHECK(clSetKernelArg(compiled.kernel, index, sizeof(cl_mem), &buffers[i].memory));
    }
  }
  if (code.shared_bytes > 0) {
    CHECK(clSetKernelArg(compiled.kernel, cl_uint(kArguments.size()), code.shared_bytes, nullptr));
  }
  size_t global[3];
  for (int axis = 0; axis < 3; ++axis) global[axis] = code.blocks[axis] * code.threads[axis];
  CHECK(clEnqueueNDRangeKernel(queue, compiled.kernel, 3, nullptr, global, code.threads, 0, nullptr, nullptr));
}
