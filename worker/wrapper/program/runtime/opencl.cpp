// ---- The device: OpenCL. All work is in one queue.

[[noreturn]] void Fail(const std::string& what, const std::string& why) {
  std::fprintf(stderr, "%s: %s\n", what.c_str(), why.c_str());
  std::exit(2);
}

void Check(cl_int result, const char* what) {
  if (result != CL_SUCCESS) Fail(what, "OpenCL error " + std::to_string(result));
}

#define CHECK(call) Check(call, #call)

struct Buffer {
  DType dtype;
  cl_mem memory;
};

struct Kernel {
  cl_kernel kernel;
};

using Event = cl_event;

cl_device_id device;
cl_context context;
cl_command_queue queue;

std::string NameOf(cl_device_id id) {
  char name[256] = "";
  CHECK(clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof(name), name, nullptr));
  return name;
}

// Number 0 is the first device of the first platform.
std::vector<cl_device_id> Devices() {
  cl_uint platforms = 0;
  CHECK(clGetPlatformIDs(0, nullptr, &platforms));
  std::vector<cl_platform_id> ids(platforms);
  CHECK(clGetPlatformIDs(platforms, ids.data(), nullptr));
  std::vector<cl_device_id> devices;
  for (const cl_platform_id id : ids) {
    cl_uint count = 0;
    if (clGetDeviceIDs(id, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) continue;
    devices.resize(devices.size() + count);
    CHECK(clGetDeviceIDs(id, CL_DEVICE_TYPE_ALL, count, devices.data() + devices.size() - count, nullptr));
  }
  return devices;
}

void OpenDevice(int number) {
  const std::vector<cl_device_id> devices = Devices();
  if (number < 0 || size_t(number) >= devices.size()) Fail("--device", "there is no such OpenCL device");
  device = devices[size_t(number)];
  cl_int result = CL_SUCCESS;
  context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &result);
  Check(result, "clCreateContext");
  queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &result);
  Check(result, "clCreateCommandQueue");
  std::printf("device %d: %s\n", number, NameOf(device).c_str());
}

// Allocates memory filled with NaN, or -1, so that elements that a kernel does not write are visible.
Buffer Allocate(DType dtype, int64_t elements) {
  cl_int result = CL_SUCCESS;
  const size_t bytes = size_t(elements) * SizeOf(dtype);
  const Buffer buffer = {dtype,
                         clCreateBuffer(context, CL_MEM_READ_WRITE, std::max<size_t>(bytes, 1), nullptr, &result)};
  Check(result, "clCreateBuffer");
  const unsigned char byte = 0xff;
  if (bytes > 0) CHECK(clEnqueueFillBuffer(queue, buffer.memory, &byte, 1, 0, bytes, 0, nullptr, nullptr));
  return buffer;
}

std::vector<std::pair<cl_mem, cl_mem>> views;  // pairs of the memory that a view shows, and the view

void Free(Buffer buffer) {
  for (auto& [base, view] : views) {
    if (base != buffer.memory) continue;
    CHECK(clReleaseMemObject(view));
    base = nullptr;
  }
  CHECK(clReleaseMemObject(buffer.memory));
}

Buffer View(Buffer base, int64_t offset, int64_t elements) {
  if (offset == 0 || elements == 0) return base;
  cl_int result = CL_SUCCESS;
  const size_t size = SizeOf(base.dtype);
  const cl_buffer_region region = {size_t(offset) * size, size_t(elements) * size};
  const Buffer view = {base.dtype, clCreateSubBuffer(base.memory, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                                     &region, &result)};
  Check(result, "clCreateSubBuffer");
  views.emplace_back(base.memory, view.memory);
  return view;
}

void Upload(Buffer to, const std::vector<unsigned char>& bytes) {
  if (bytes.empty()) return;
  CHECK(clEnqueueWriteBuffer(queue, to.memory, CL_TRUE, 0, bytes.size(), bytes.data(), 0, nullptr, nullptr));
}

std::vector<unsigned char> Download(Buffer from, int64_t elements) {
  std::vector<unsigned char> bytes(size_t(elements) * SizeOf(from.dtype));
  if (bytes.empty()) return bytes;
  CHECK(clEnqueueReadBuffer(queue, from.memory, CL_TRUE, 0, bytes.size(), bytes.data(), 0, nullptr, nullptr));
  return bytes;
}

Kernel Compile(const char* name, const char* source, const char* options) {
  cl_int result = CL_SUCCESS;
  const cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &result);
  Check(result, "clCreateProgramWithSource");
  result = clBuildProgram(program, 1, &device, options, nullptr, nullptr);
  if (result != CL_SUCCESS) {
    size_t size = 0;
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
    std::string log(size, '\0');
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, &log[0], nullptr);
    Fail(name, log);
  }
  const Kernel kernel = {clCreateKernel(program, name, &result)};
  Check(result, name);
  return kernel;
}

// Compiles a kernel with the options of the tuner.
Kernel Compile(const char* name, const char* source) { return Compile(name, source, kCompileOptions); }

const cl_mem& ValueOf(const Buffer& buffer) { return buffer.memory; }
template <typename Number>
const Number& ValueOf(const Number& number) {
  return number;
}

template <typename... Arguments>
void Queue(Kernel kernel, int64_t grid, int threads, size_t shared_bytes, const Arguments&... arguments) {
  cl_uint index = 0;
  (CHECK(clSetKernelArg(kernel.kernel, index++, sizeof(ValueOf(arguments)), &ValueOf(arguments))), ...);
  if (shared_bytes > 0) CHECK(clSetKernelArg(kernel.kernel, index, shared_bytes, nullptr));
  if (grid == 0) return;
  const size_t local = size_t(threads);
  const size_t global = size_t(grid) * local;
  CHECK(clEnqueueNDRangeKernel(queue, kernel.kernel, 1, nullptr, &global, &local, 0, nullptr, nullptr));
}

void Synchronize() { CHECK(clFinish(queue)); }

Event Record() {
  Event event = nullptr;
  CHECK(clEnqueueMarkerWithWaitList(queue, 0, nullptr, &event));
  return event;
}

cl_ulong EndNs(Event event) {
  cl_ulong ns = 0;
  CHECK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(ns), &ns, nullptr));
  CHECK(clReleaseEvent(event));
  return ns;
}

double ElapsedMs(Event begin, Event end) {
  const cl_ulong begin_ns = EndNs(begin);
  return double(EndNs(end) - begin_ns) * 1e-6;
}

template <typename Number>
Number DeviceNumber(cl_device_info what) {
  Number number = 0;
  CHECK(clGetDeviceInfo(device, what, sizeof(number), &number, nullptr));
  return number;
}

size_t CacheBytes() { return size_t(DeviceNumber<cl_ulong>(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE)); }
int ComputeUnits() { return int(DeviceNumber<cl_uint>(CL_DEVICE_MAX_COMPUTE_UNITS)); }

const int kFlushThreads = 64;
const char kTimingSource[] = R"CL(
__kernel void read_zeros(__global uint4* zeros, long count) {
  uint seen = 0u;
  for (long i = get_global_id(0); i < count; i += get_global_size(0)) {
    const uint4 word = zeros[i];
    seen |= word.x | word.y | word.z | word.w;
  }
  if (seen != 0u) zeros[0].x = seen;
}
)CL";

// Does nothing: OpenCL has no clock on the device that a kernel could wait for.
void QueueHold() {}
