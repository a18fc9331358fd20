// ---- The debugger: saves (level 1) or prints (level 2) the values around each launch, and finds the first NaN.

// A tensor of a call or an input of the program; or a number, which `number` describes.
struct DebugValue {
  std::string name;            // the kernel's name
  std::string buffer, memory;  // the program's names of a tensor and of the memory that it is in; empty for an input
  bool is_output;
  Tensor tensor;
  std::string number;
};

DebugValue DebugTensor(const char* name, const char* buffer, const char* memory, const Tensor& tensor) {
  return {name, buffer, memory, false, tensor, ""};
}
DebugValue DebugOutput(const char* name, const char* buffer, const char* memory, const Tensor& tensor) {
  return {name, buffer, memory, true, tensor, ""};
}
DebugValue DebugNumber(const char* name, const char* number) { return {name, "", "", false, {}, number}; }

void DebugPrint(const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }

std::set<int> debug_errors;  // the errno of those that were printed

// Prints an error unless one of its kind was printed.
void DebugError(const std::string& what, int error) {
  if (!debug_errors.insert(error).second) return;
  DebugPrint("[error] cannot save values: " + what + ": " + std::strerror(error) +
             ". The run continues; further errors of this kind are not shown");
}

// Statistics of some elements of a tensor. Mean, extremes and squares are those of the finite elements.
struct DebugPart {
  int64_t finite = 0, nans = 0, infinities = 0;
  double mean = 0, squares = 0, minimum = 0, maximum = 0;

  void Add(const DebugPart& other) {
    nans += other.nans;
    infinities += other.infinities;
    if (other.finite == 0) return;
    if (finite == 0) {
      minimum = other.minimum;
      maximum = other.maximum;
    }
    const double here = double(finite), there = double(other.finite), apart = other.mean - mean;
    mean += apart * (there / (here + there));
    squares += other.squares + apart * apart * (here * (there / (here + there)));
    finite += other.finite;
    minimum = std::min(minimum, other.minimum);
    maximum = std::max(maximum, other.maximum);
  }
};

// A part as a thread block of the device writes it, with extremes as unsigned numbers of the same order.
template <typename Real>
struct DevicePart {
  int64_t finite, nans, infinities;
  Real mean, squares;
  uint32_t minimum, maximum;
};

double ValueOfOrder(uint32_t order, DType dtype) {
  const uint32_t sign = 0x80000000u;
  if (dtype == I32 || dtype == BOOL) return int32_t(order ^ sign);
  const uint32_t bits = (order & sign) != 0 ? order ^ sign : ~order;
  return Get<float>(reinterpret_cast<const unsigned char*>(&bits));
}

template <typename Real>
DebugPart SumOfParts(const std::vector<unsigned char>& bytes, DType dtype) {
  DebugPart all;
  for (size_t at = 0; at < bytes.size(); at += sizeof(DevicePart<Real>)) {
    const auto part = Get<DevicePart<Real>>(bytes.data() + at);
    DebugPart of_block;
    of_block.finite = part.finite;
    of_block.nans = part.nans;
    of_block.infinities = part.infinities;
    of_block.mean = double(part.mean);
    of_block.squares = double(part.squares);
    of_block.minimum = ValueOfOrder(part.minimum, dtype);
    of_block.maximum = ValueOfOrder(part.maximum, dtype);
    all.Add(of_block);
  }
  return all;
}

#ifdef CL_DEVICE_DOUBLE_FP_CONFIG
bool HasDoubles() { return DeviceNumber<cl_device_fp_config>(CL_DEVICE_DOUBLE_FP_CONFIG) != 0; }
#else
bool HasDoubles() { return true; }
#endif

Kernel CompileStatistics() {
  std::string source = kStatisticsSource;
  const std::string doubles = "typedef double real;";
  if (!HasDoubles()) source.replace(source.find(doubles), doubles.size(), "typedef float real;");
  return Compile("tensor_statistics", source.c_str());
}

// Returns the layout with as few dimensions as possible.
Layout Simplified(const Layout& full) {
  Layout layout;
  for (size_t d = 0; d < full.sizes.size(); ++d) {
    if (full.sizes[d] == 1) continue;
    if (!layout.sizes.empty() && layout.strides.back() == full.strides[d] * full.sizes[d]) {
      layout.sizes.back() *= full.sizes[d];
      layout.strides.back() = full.strides[d];
    } else {
      layout.sizes.push_back(full.sizes[d]);
      layout.strides.push_back(full.strides[d]);
    }
  }
  return layout;
}

// Computes the statistics on the device, which reads each element once.
DebugPart Measure(const Tensor& tensor) {
  const int64_t elements = tensor.layout.elements();
  if (elements == 0) return {};
  static const Kernel kernel = CompileStatistics();
  static const int64_t part_bytes = HasDoubles() ? sizeof(DevicePart<double>) : sizeof(DevicePart<float>);
  static const int64_t most_blocks = int64_t(8) * std::max(1, ComputeUnits());
  static const Buffer parts = Allocate(I32, most_blocks * part_bytes / 4);
  const Layout layout = Simplified(tensor.layout);
  const int64_t rank = int64_t(layout.sizes.size());
  std::vector<int64_t> numbers = layout.sizes;
  numbers.insert(numbers.end(), layout.strides.begin(), layout.strides.end());
  const unsigned char* const bytes = reinterpret_cast<const unsigned char*>(numbers.data());
  const Buffer dimensions = Allocate(I32, 4 * rank + 1);
  Upload(dimensions, std::vector<unsigned char>(bytes, bytes + 16 * rank));
  const int64_t blocks = std::min((elements + kStatisticsThreads - 1) / kStatisticsThreads, most_blocks);
  Queue(kernel, blocks, kStatisticsThreads, 0, tensor.buffer, int32_t(tensor.buffer.dtype), elements, int32_t(rank),
        rank == 1 ? layout.strides[0] : int64_t(0), dimensions, parts);
  const std::vector<unsigned char> written = Download(parts, blocks * part_bytes / 4);
  Free(dimensions);
  return HasDoubles() ? SumOfParts<double>(written, tensor.buffer.dtype)
                      : SumOfParts<float>(written, tensor.buffer.dtype);
}

std::string DebugDigits(double value) {
  if (std::isnan(value)) return "nan";
  char text[40];
  std::snprintf(text, sizeof(text), "%.9g", value);
  return text;
}

std::string DebugList(const std::vector<int64_t>& numbers) {
  std::string text;
  for (const int64_t number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return "[" + text + "]";
}

std::string DebugText(const DebugValue& value, const DebugPart& part) {
  const Tensor& tensor = value.tensor;
  const DType dtype = tensor.buffer.dtype;
  const int64_t elements = tensor.layout.elements();
  const bool any = part.finite > 0;
  const auto digits = [any](double number) { return any ? DebugDigits(number) : std::string("none"); };
  const char* const dtypes[] = {"f32", "f16", "bf16", "i32", "bool"};
  std::string text = value.buffer.empty() || value.buffer == value.name ? "" : "buffer=" + value.buffer + " ";
  text += "elements=" + std::to_string(elements) + " sizes=" + DebugList(tensor.layout.sizes) +
          " strides=" + DebugList(tensor.layout.strides) + " dtype=" + dtypes[dtype] + " mean=" + digits(part.mean) +
          " min=" + digits(part.minimum) + " max=" + digits(part.maximum) +
          " std=" + digits(std::sqrt(part.squares / double(part.finite))) + " nan=" + std::to_string(part.nans) +
          " inf=" + std::to_string(part.infinities);
  const bool is_float = dtype != I32 && dtype != BOOL;
  if (is_float && any && part.finite < elements) text += " (mean, min, max, std of the finite elements)";
  if (elements > 64) return text;
  std::string list;
  for (const double number : ValuesOf(tensor)) {
    list += list.empty() ? "" : ", ";
    list += dtype != BOOL ? DebugDigits(number) : number != 0 ? "true" : "false";
  }
  return text + " values=[" + list + "]";
}

// Returns the elements as NumPy's files have them: bf16 as f32, bools as 0 and 1.
std::vector<unsigned char> NpyElements(const Tensor& tensor) {
  const auto& [buffer, layout] = tensor;
  std::vector<unsigned char> file;
  int64_t span = 1;
  for (size_t d = 0; d < layout.sizes.size(); ++d) span += (layout.sizes[d] - 1) * layout.strides[d];
  const int64_t elements = layout.elements();
  const std::vector<unsigned char> bytes = Download(buffer, elements == 0 ? 0 : span);
  const size_t size = SizeOf(buffer.dtype);
  for (int64_t i = 0; i < elements; ++i) {
    int64_t rest = i, offset = 0;
    for (size_t d = layout.sizes.size(); d-- > 0; rest /= layout.sizes[d]) {
      offset += rest % layout.sizes[d] * layout.strides[d];
    }
    const unsigned char* const from = bytes.data() + size_t(offset) * size;
    if (buffer.dtype == BF16) file.insert(file.end(), 2, 0);
    if (buffer.dtype == BOOL) {
      file.push_back(*from != 0);
    } else {
      file.insert(file.end(), from, from + size);
    }
  }
  return file;
}

std::string NpyHeader(const Tensor& tensor) {
  const char* const dtypes[] = {"<f4", "<f2", "<f4", "<i4", "|b1"};
  std::string sizes = DebugList(tensor.layout.sizes);
  sizes = sizes.substr(1, sizes.size() - 2) + (tensor.layout.sizes.size() == 1 ? "," : "");
  std::string text = std::string("{'descr': '") + dtypes[tensor.buffer.dtype] +
                     "', 'fortran_order': False, 'shape': (" + sizes + "), }";
  text.append((64 - (10 + text.size() + 1) % 64) % 64, ' ');
  text += '\n';
  const char prefix[] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, char(text.size() & 0xff), char(text.size() >> 8)};
  return std::string(prefix, sizeof(prefix)) + text;
}

std::string DebugFileName(const std::string& name) {
  std::string text = name.substr(0, 100);
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-' && c != '.') c = '_';
  }
  return text;
}

std::map<std::string, int> debug_launches;  // by kernel: the number in the names of its files

// Writes a new file, or none.
void DebugSave(const char* when, const char* kernel, const DebugValue& value) {
  std::error_code folder_error;
  std::filesystem::create_directories(kDebugFolder, folder_error);
  if (folder_error) return DebugError(std::string("cannot make the folder ") + kDebugFolder, folder_error.value());
  const std::string stem =
      std::string(kDebugFolder) + "/" + when + "_" + DebugFileName(kernel) + "_" + DebugFileName(value.name);
  int& number = debug_launches[kernel];
  std::string path;
  std::FILE* file = nullptr;
  do {
    path = stem + (number > 1 ? "." + std::to_string(number) : "") + ".npy";
    file = std::fopen(path.c_str(), "wbx");
  } while (file == nullptr && errno == EEXIST && ++number > 0);
  if (file == nullptr) return DebugError("cannot write " + path, errno);
  const std::string header = NpyHeader(value.tensor);
  const std::vector<unsigned char> elements = NpyElements(value.tensor);
  errno = 0;
  bool is_written = std::fwrite(header.data(), 1, header.size(), file) == header.size() &&
                    std::fwrite(elements.data(), 1, elements.size(), file) == elements.size() &&
                    std::fflush(file) == 0;
  int error = errno;
  if (std::fclose(file) != 0 && is_written) {
    is_written = false;
    error = errno;
  }
  if (is_written) return;
  std::remove(path.c_str());
  DebugError("cannot write " + path, error);
}

std::map<std::string, std::string> debug_makers;  // by memory: the kernel that wrote it last
bool has_first_nan = false;

// Begins a run, which has a first NaN of its own.
void DebugBegin() {
  debug_makers.clear();
  has_first_nan = false;
}

// Prints the first tensor with a NaN. NaNs in an output before the launch do not count.
void FindFirstNan(const DebugValue& value, const DebugPart& part, std::string maker) {
  if (has_first_nan || part.nans == 0 || (maker.empty() && value.is_output)) return;
  has_first_nan = true;
  const std::string& memory = value.memory.empty() ? value.name : value.memory;
  const auto known = debug_makers.find(memory);
  if (maker.empty() && known != debug_makers.end()) maker = known->second;
  DebugPrint("[first_nan] the first tensor with a NaN is '" + (value.buffer.empty() ? value.name : value.buffer) +
             "' (" + std::to_string(part.nans) + " of " + std::to_string(value.tensor.layout.elements()) +
             " elements), " + (maker.empty() ? "an input of the program" : "made by kernel '" + maker + "'"));
}

void DebugLook(const std::string& when, const char* kernel, const char* maker, const std::vector<DebugValue>& values) {
  for (const DebugValue& value : values) {
    const std::string head = "[" + when + " - " + kernel + " - " + value.name + "] ";
    if (!value.number.empty()) {
      if (kDebugLevel == 2) DebugPrint(head + value.number);
      continue;
    }
    if (kDebugLevel == 1) DebugSave(when.c_str(), kernel, value);
    const DebugPart part = Measure(value.tensor);
    const bool is_unwritten = when == "before_launch" && value.is_output;
    if (kDebugLevel == 2) DebugPrint(head + (is_unwritten ? "(output) " : "") + DebugText(value, part));
    FindFirstNan(value, part, maker);
  }
}

void DebugInputs(const char* program, const std::vector<DebugValue>& values) {
  if (!is_timed) DebugLook("program_inputs", program, "", values);
}

void DebugBefore(const char* kernel, const std::vector<DebugValue>& values) {
  if (is_timed) return;
  ++debug_launches[kernel];
  DebugLook("before_launch", kernel, "", values);
}

// Records the kernel that wrote some memory.
void DebugWrote(const char* kernel, const std::vector<std::string>& memory) {
  for (const std::string& written : memory) debug_makers[written] = kernel;
}

void DebugAfter(const char* kernel, const std::vector<std::string>& memory, const std::vector<DebugValue>& values) {
  if (is_timed) return;
  DebugWrote(kernel, memory);
  DebugLook("after_launch", kernel, kernel, values);
}
