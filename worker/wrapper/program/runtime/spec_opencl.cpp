using Bytes = std::vector<unsigned char>;

[[noreturn]] void Fail(const std::string& what, const std::string& why) {
  std::fprintf(stderr, "%s: %s\n", what.c_str(), why.c_str());
  std::exit(2);
}

void Check(cl_int result, const char* what) {
  if (result != CL_SUCCESS) Fail(what, "OpenCL error " + std::to_string(result));
}

#define CHECK(call) Check(call, #call)

std::string folder;  // of the program, with a trailing '/'
cl_device_id device;
cl_context context;
cl_command_queue queue;

Bytes ReadFile(const char* name, size_t size) {
  std::ifstream file(folder + name, std::ios::binary);
  Bytes bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (bytes.size() != size) Fail(folder + name, "is missing or has another size");
  return bytes;
}

Bytes Contents(const Argument& argument) {
  if (argument.embedded == 0) return ReadFile(argument.contents, argument.bytes);
  Bytes bytes(argument.bytes);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>(argument.contents[i % argument.embedded]);
  return bytes;
}

// Opens the device with a number, or, if it is negative, the one with the name of the measurement, else the
// first one.
void OpenDevice(int number) {
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
  const auto name_of = [&](cl_device_id id) {
    char name[256] = "";
    CHECK(clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof(name), name, nullptr));
    return std::string(name);
  };
  for (size_t i = 0; number < 0 && i < devices.size(); ++i) {
    if (name_of(devices[i]) == kDevice) number = static_cast<int>(i);
  }
  number = std::max(number, 0);
  if (static_cast<size_t>(number) >= devices.size()) Fail("--device", "there is no such OpenCL device");
  device = devices[static_cast<size_t>(number)];
  cl_int result = CL_SUCCESS;
  context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &result);
  Check(result, "clCreateContext");
  queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &result);
  Check(result, "clCreateCommandQueue");
  std::printf("device %d: %s (measured on %s)\n", number, name_of(device).c_str(), kDevice);
}

// A compiled kernel with its own copies of the arguments.
class Call {
 public:
  explicit Call(const Code& code) : code_(code) {
    cl_int result = CL_SUCCESS;
    const char* source = code.source;
    const cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &result);
    Check(result, "clCreateProgramWithSource");
    if (clBuildProgram(program, 1, &device, code.options, nullptr, nullptr) != CL_SUCCESS) {
      std::string log(1 << 16, '\0');
      clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, log.size(), &log[0], nullptr);
      Fail(code.function, "does not compile:\n" + std::string(log.c_str()));
    }
    kernel_ = clCreateKernel(program, code.function, &result);
    Check(result, "clCreateKernel");
    buffers_.resize(kArguments.size());
    for (size_t i = 0; i < kArguments.size(); ++i) {
      const Argument& argument = kArguments[i];
      const cl_uint index = static_cast<cl_uint>(i);
      if (argument.kind == kLocal) {
        CHECK(clSetKernelArg(kernel_, index, argument.bytes, nullptr));
      } else if (argument.kind == kScalar) {
        const Bytes value = Contents(argument);
        CHECK(clSetKernelArg(kernel_, index, value.size(), value.data()));
      } else {
        buffers_[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, std::max<size_t>(argument.bytes, 1), nullptr, &result);
        Check(result, "clCreateBuffer");
        CHECK(clSetKernelArg(kernel_, index, sizeof(cl_mem), &buffers_[i]));
      }
    }
    Reset();
  }

  // Writes the initial contents of the arguments.
  void Reset() {
    for (size_t i = 0; i < kArguments.size(); ++i) {
      if (buffers_[i] == nullptr || kArguments[i].bytes == 0) continue;
      const Bytes bytes = Contents(kArguments[i]);
      CHECK(clEnqueueWriteBuffer(queue, buffers_[i], CL_TRUE, 0, bytes.size(), bytes.data(), 0, nullptr, nullptr));
    }
  }

  // Launches the kernel; returns its time in milliseconds.
  double Run() {
    cl_event event;
    CHECK(clEnqueueNDRangeKernel(queue, kernel_, 3, nullptr, code_.global, code_.local, 0, nullptr, &event));
    CHECK(clWaitForEvents(1, &event));
    cl_ulong begin = 0;
    cl_ulong end = 0;
    CHECK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(begin), &begin, nullptr));
    CHECK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(end), &end, nullptr));
    CHECK(clReleaseEvent(event));
    return static_cast<double>(end - begin) / 1e6;
  }

  Bytes Result(size_t index) {
    Bytes bytes(kArguments[index].bytes);
    if (bytes.empty()) return bytes;
    CHECK(clEnqueueReadBuffer(queue, buffers_[index], CL_TRUE, 0, bytes.size(), bytes.data(), 0, nullptr, nullptr));
    return bytes;
  }

 private:
  const Code& code_;
  cl_kernel kernel_ = nullptr;
  std::vector<cl_mem> buffers_;
};

template <typename T>
double As(const unsigned char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(value));
  return static_cast<double>(value);
}

double FromHalf(const unsigned char* bytes) {
  uint16_t bits;
  std::memcpy(&bits, bytes, sizeof(bits));
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31) value = fraction == 0 ? HUGE_VAL : std::nan("");
  return (bits & 0x8000) != 0 ? -value : value;
}

double FromBFloat(const unsigned char* bytes) {
  const unsigned char wide[4] = {0, 0, bytes[0], bytes[1]};
  return As<float>(wide);
}

// Compares the results of an argument with the expected ones. Integers must be equal.
bool IsRight(const Argument& argument, const Bytes& found, const Bytes& expected) {
  const std::string type = argument.type;
  double (*read)(const unsigned char*) = nullptr;
  size_t size = 1;
  if (type == "f64") read = As<double>, size = 8;
  if (type == "f32") read = As<float>, size = 4;
  if (type == "f16") read = FromHalf, size = 2;
  if (type == "bf16") read = FromBFloat, size = 2;
  size_t wrong = 0;
  size_t first = 0;
  for (size_t at = 0; at < found.size(); at += size) {
    bool is_right = std::memcmp(&found[at], &expected[at], size) == 0;
    if (!is_right && read != nullptr) {
      const double a = read(&found[at]);
      const double b = read(&expected[at]);
      is_right = (std::isnan(a) && std::isnan(b)) || a == b ||
                 std::abs(a - b) <= argument.absolute + argument.relative * std::abs(b);
    }
    if (!is_right && wrong++ == 0) first = at / size;
  }
  if (wrong == 0) {
    std::printf("%s: right\n", argument.name);
    return true;
  }
  std::printf("%s: %zu of %zu elements are wrong, the first is number %zu\n", argument.name, wrong,
              found.size() / size, first);
  return false;
}

bool ResultsAreRight(Call& call) {
  if (!kIsChecked) {
    std::printf("the specification has no reference; the results were not compared\n");
    return true;
  }
  bool all_right = true;
  std::vector<Bytes> expected(kArguments.size());
  if (kHasReference) {
    Call reference(kReference);
    reference.Run();
    for (size_t i = 0; i < kArguments.size(); ++i) {
      if (kArguments[i].kind == kWritten) expected[i] = reference.Result(i);
    }
  }
  for (size_t i = 0; i < kArguments.size(); ++i) {
    const Argument& argument = kArguments[i];
    if (argument.kind != kWritten) continue;
    if (argument.expected[0] != '\0') expected[i] = ReadFile(argument.expected, argument.bytes);
    if (expected[i].size() != argument.bytes) continue;
    all_right = IsRight(argument, call.Result(i), expected[i]) && all_right;
  }
  return all_right;
}

void PrintTime(Call& call) {
  std::vector<double> samples;
  for (int i = 0; i < 3; ++i) call.Run();
  for (int i = 0; i < 21; ++i) {
    call.Reset();
    samples.push_back(call.Run());
  }
  std::sort(samples.begin(), samples.end());
  std::printf("median %.6f ms, fastest %.6f ms", samples[samples.size() / 2], samples.front());
  if (kMeasuredMs > 0) std::printf("; measured %.6f ms", kMeasuredMs);
  std::printf("\n");
}

int main(int argc, char** argv) {
  const std::string program = argv[0];
  const size_t slash = program.rfind('/');
  folder = slash == std::string::npos ? "" : program.substr(0, slash + 1);
  bool is_timed = true;
  int number = -1;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--no-time") == 0) {
      is_timed = false;
    } else if (std::strcmp(argv[i], "--device") == 0 && i + 1 < argc) {
      number = std::atoi(argv[++i]);
    } else {
      Fail(argv[i], "unknown argument");
    }
  }
  OpenDevice(number);
  Call call(kKernel);
  call.Run();
  const bool is_right = ResultsAreRight(call);
  if (is_timed) PrintTime(call);
  return is_right ? 0 : 1;
}
