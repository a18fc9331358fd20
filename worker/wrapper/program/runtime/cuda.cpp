// ---- The device: the driver API of CUDA, with NVRTC as the compiler. All work is queued on the default stream.

[[noreturn]] void Fail(const std::string& what, const std::string& why) {
  std::fprintf(stderr, "%s: %s\n", what.c_str(), why.c_str());
  std::exit(2);
}

void Check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  cuGetErrorName(result, &name);
  Fail(what, name == nullptr ? "?" : name);
}

void Check(nvrtcResult result, const char* what) {
  if (result != NVRTC_SUCCESS) Fail(what, nvrtcGetErrorString(result));
}

#define CHECK(call) Check(call, #call)

struct Buffer {
  DType dtype;
  CUdeviceptr pointer;
};

struct Kernel {
  CUfunction function;
};

using Event = CUevent;

CUdevice device;

int Attribute(CUdevice_attribute attribute) {
  int value = 0;
  CHECK(cuDeviceGetAttribute(&value, attribute, device));
  return value;
}

std::string NameOf(CUdevice id) {
  char name[256] = "";
  CHECK(cuDeviceGetName(name, sizeof(name), id));
  return name;
}

std::vector<CUdevice> Devices() {
  int count = 0;
  CHECK(cuInit(0));
  CHECK(cuDeviceGetCount(&count));
  std::vector<CUdevice> devices(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) CHECK(cuDeviceGet(&devices[size_t(i)], i));
  return devices;
}

void OpenDevice(int number) {
  const std::vector<CUdevice> devices = Devices();
  if (number < 0 || size_t(number) >= devices.size()) Fail("--device", "there is no such CUDA device");
  device = devices[size_t(number)];
  CUcontext context = nullptr;
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  std::printf("device %d: %s\n", number, NameOf(device).c_str());
}

// Allocates memory filled with NaN, or -1, so that elements that a kernel does not write are visible.
Buffer Allocate(DType dtype, int64_t elements) {
  Buffer buffer = {dtype, 0};
  const size_t bytes = size_t(elements) * SizeOf(dtype);
  CHECK(cuMemAlloc(&buffer.pointer, std::max<size_t>(bytes, 1)));
  if (bytes > 0) CHECK(cuMemsetD8(buffer.pointer, 0xff, bytes));
  return buffer;
}

void Free(Buffer buffer) { CHECK(cuMemFree(buffer.pointer)); }

Buffer View(Buffer base, int64_t offset, int64_t /*elements*/) {
  return {base.dtype, base.pointer + size_t(offset) * SizeOf(base.dtype)};
}

void Upload(Buffer to, const std::vector<unsigned char>& bytes) {
  if (!bytes.empty()) CHECK(cuMemcpyHtoD(to.pointer, bytes.data(), bytes.size()));
}

std::vector<unsigned char> Download(Buffer from, int64_t elements) {
  std::vector<unsigned char> bytes(size_t(elements) * SizeOf(from.dtype));
  if (!bytes.empty()) CHECK(cuMemcpyDtoH(bytes.data(), from.pointer, bytes.size()));
  return bytes;
}

// Compiles the source of a kernel. A kernel that is not declared extern "C" is named by an expression of C++; `name` then
// becomes its name in the module.
CUmodule CompileModule(const char* source, const std::vector<const char*>& options, bool is_expression,
                       std::string* name) {
  nvrtcProgram program = nullptr;
  CHECK(nvrtcCreateProgram(&program, source, "kernel.cu", 0, nullptr, nullptr));
  const std::string expression = *name;
  if (is_expression) CHECK(nvrtcAddNameExpression(program, expression.c_str()));
  const nvrtcResult result = nvrtcCompileProgram(program, int(options.size()), options.data());
  if (result != NVRTC_SUCCESS) {
    size_t size = 0;
    nvrtcGetProgramLogSize(program, &size);
    std::string log(size, '\0');
    nvrtcGetProgramLog(program, log.data());
    Fail(*name, log);
  }
  if (is_expression) {
    const char* lowered = nullptr;
    CHECK(nvrtcGetLoweredName(program, expression.c_str(), &lowered));
    *name = lowered;
  }
  size_t size = 0;
  CHECK(nvrtcGetCUBINSize(program, &size));
  std::string cubin(size, '\0');
  CHECK(nvrtcGetCUBIN(program, cubin.data()));
  CHECK(nvrtcDestroyProgram(&program));
  CUmodule module = nullptr;
  CHECK(cuModuleLoadData(&module, cubin.data()));
  return module;
}

// Compiles a kernel with the options of the tuner.
Kernel Compile(const char* name, const char* source) {
  std::string function = name;
  Kernel kernel = {};
  const CUmodule module =
      CompileModule(source, {std::begin(kCompileOptions), std::end(kCompileOptions)}, false, &function);
  CHECK(cuModuleGetFunction(&kernel.function, module, name));
  return kernel;
}

const CUdeviceptr& ValueOf(const Buffer& buffer) { return buffer.pointer; }
template <typename Number>
const Number& ValueOf(const Number& number) {
  return number;
}

void AllowShared(Kernel kernel, size_t shared_bytes) {
  if (shared_bytes <= 48 << 10) return;
  CHECK(cuFuncSetAttribute(kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, int(shared_bytes)));
}

template <typename... Arguments>
void Queue(Kernel kernel, int64_t grid, int threads, size_t shared_bytes, const Arguments&... arguments) {
  if (grid == 0) return;
  void* values[] = {const_cast<void*>(static_cast<const void*>(&ValueOf(arguments)))...};
  AllowShared(kernel, shared_bytes);
  CHECK(cuLaunchKernel(kernel.function, unsigned(grid), 1, 1, unsigned(threads), 1, 1, unsigned(shared_bytes), nullptr,
                       values, nullptr));
}

void Synchronize() { CHECK(cuCtxSynchronize()); }

Event Record() {
  Event event = nullptr;
  CHECK(cuEventCreate(&event, CU_EVENT_DEFAULT));
  CHECK(cuEventRecord(event, nullptr));
  return event;
}

double ElapsedMs(Event begin, Event end) {
  float ms = 0;
  CHECK(cuEventElapsedTime(&ms, begin, end));
  CHECK(cuEventDestroy(begin));
  CHECK(cuEventDestroy(end));
  return ms;
}

size_t CacheBytes() { return size_t(Attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)); }
int ComputeUnits() { return Attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT); }

const int kFlushThreads = 256;
const char kTimingSource[] = R"CUDA(
extern "C" __global__ void read_zeros(uint4* zeros, long long count) {
  unsigned seen = 0;
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const uint4 word = zeros[i];
    seen |= word.x | word.y | word.z | word.w;
  }
  if (seen != 0) zeros[0].x = seen;
}

extern "C" __global__ void hold(int ns) {
  unsigned long long begin_ns, now_ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin_ns));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now_ns));
  } while (now_ns - begin_ns < (unsigned long long)ns);
}
)CUDA";

// Keeps the device busy until the host has queued the work to be timed.
void QueueHold() {
  static const Kernel hold = Compile("hold", kTimingSource);
  Queue(hold, 1, 1, 0, int32_t(8000));
}
