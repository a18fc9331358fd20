// ---- Runs the kernel and its reference, compares the results, and takes times.

std::string folder;  // of the program, with a trailing '/'

Bytes ReadFile(const char* name, size_t size) {
  std::ifstream file(folder + name, std::ios::binary);
  Bytes bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (bytes.size() != size) Fail(folder + name, "is missing or has another size");
  return bytes;
}

Bytes Contents(const Argument& argument) {
  if (argument.embedded == 0) return ReadFile(argument.contents, argument.bytes);
  Bytes bytes(argument.bytes);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = (unsigned char)(argument.contents[i % argument.embedded]);
  return bytes;
}

// A compiled kernel with its own copies of the arguments.
class Call {
 public:
  explicit Call(const Code& code) : code_(code), compiled_(CompileCode(code)) {
    buffers_.resize(kArguments.size());
    values_.resize(kArguments.size());
    for (size_t i = 0; i < kArguments.size(); ++i) {
      const Argument& argument = kArguments[i];
      if (argument.kind == kLocal) continue;
      const Bytes contents = Contents(argument);
      if (argument.kind == kScalar) values_[i] = contents;
      if (argument.kind == kVariable || argument.is_variable_too) SetVariable(compiled_, argument, contents);
      if (argument.kind != kRead && argument.kind != kWritten) continue;
      buffers_[i] = Allocate(BOOL, int64_t(argument.bytes));
      Upload(buffers_[i], contents);
    }
  }

  void Launch() { QueueCode(compiled_, code_, buffers_, values_); }
  Bytes Result(size_t index) { return Download(buffers_[index], int64_t(kArguments[index].bytes)); }

 private:
  const Code& code_;
  const CompiledCode compiled_;
  std::vector<Buffer> buffers_;
  std::vector<Bytes> values_;
};

double Number(const std::string& type, const unsigned char* from) {
  if (type == "f64") return Get<double>(from);
  return Decode(type == "f32" ? F32 : type == "f16" ? F16 : BF16, from);
}

// Compares the results of an argument with the expected ones. Integers must be equal.
bool IsRight(const Argument& argument, const Bytes& found, const Bytes& expected) {
  const std::string type = argument.type;
  const bool is_float = type == "f64" || type == "f32" || type == "f16" || type == "bf16";
  const size_t size = !is_float ? 1 : type == "f64" ? 8 : type == "f32" ? 4 : 2;
  size_t wrong = 0, first = 0;
  for (size_t at = 0; at < found.size(); at += size) {
    bool is_right = std::memcmp(&found[at], &expected[at], size) == 0;
    if (!is_right && is_float) {
      const double a = Number(type, &found[at]), b = Number(type, &expected[at]);
      is_right = (std::isnan(a) && std::isnan(b)) || a == b ||
                 std::abs(a - b) <= argument.absolute + argument.relative * std::abs(b);
    }
    if (!is_right && wrong++ == 0) first = at / size;
  }
  if (wrong == 0) {
    std::printf("%s: right\n", argument.name);
    return true;
  }
  std::printf("%s: %zu of %zu %s are wrong, the first is number %zu\n", argument.name, wrong, found.size() / size,
              is_float ? "elements" : "bytes", first);
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
    reference.Launch();
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

// Returns the number of the device of the measurement; 0 if there is none with this name.
int NumberOfDevice() {
  const auto devices = Devices();
  for (size_t i = 0; i < devices.size(); ++i) {
    if (NameOf(devices[i]) == kDevice) return int(i);
  }
  return 0;
}

int main(int argc, char** argv) {
  const std::string program = argv[0];
  const size_t slash = program.rfind('/');
  folder = slash == std::string::npos ? "" : program.substr(0, slash + 1);
  bool with_times = true;
  int number = -1;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--no-time") {
      with_times = false;
    } else if (argument == "--device" && i + 1 < argc) {
      number = std::atoi(argv[++i]);
    } else {
      std::fprintf(stderr, "usage: %s [--no-time] [--device N]\n", argv[0]);
      return 2;
    }
  }
  OpenDevice(number < 0 ? NumberOfDevice() : number);
  std::printf("measured on: %s\n", kDevice);
  Call call(kKernel);
  call.Launch();
  Synchronize();
  const bool is_right = ResultsAreRight(call);
  if (is_right && with_times) {
    is_timed = true;
    Run(kKernel.function, [&] { call.Launch(); });
    if (kMeasuredMs > 0) std::printf("measured before: %.4f ms; now %.3f of it\n", kMeasuredMs, all_ms / kMeasuredMs);
  }
  return is_right ? 0 : 1;
}
