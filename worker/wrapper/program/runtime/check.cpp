// ---- Inputs and expected outputs.

uint64_t random_state = kSeed;

// Returns the next number of SplitMix64 (Steele, Lea and Flood: Fast Splittable Pseudorandom Number Generators, 2014).
uint64_t RandomBits() {
  random_state += 0x9E3779B97F4A7C15;
  uint64_t z = random_state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

// Draws values from a uniform distribution: floats from low to high, integers from low to high - 1.
Buffer Input(DType dtype, int64_t elements, double low, double high) {
  std::vector<double> values(size_t(elements), 0.0);
  for (double& value : values) {
    const double part = (high - low) * std::ldexp(double(RandomBits() >> 11), -53);
    value = dtype == I32 || dtype == BOOL ? low + std::floor(part) : low + part;
  }
  const Buffer buffer = Allocate(dtype, elements);
  Upload(buffer, Encode(dtype, values));
  return buffer;
}

struct Layout {
  std::vector<int64_t> sizes, strides;  // in elements

  int64_t elements() const {
    int64_t count = 1;
    for (const int64_t size : sizes) count *= size;
    return count;
  }
  std::vector<int64_t> IndexOf(int64_t element) const {
    std::vector<int64_t> index(sizes.size());
    for (size_t d = sizes.size(); d-- > 0; element /= sizes[d]) index[d] = element % sizes[d];
    return index;
  }
};

struct Tensor {
  Buffer buffer;
  Layout layout;
};

// Returns every element in row-major order.
std::vector<double> ValuesOf(const Tensor& tensor) {
  const auto& [buffer, layout] = tensor;
  std::vector<double> values(size_t(layout.elements()), 0.0);
  if (values.empty()) return values;
  int64_t span = 1;
  for (size_t d = 0; d < layout.sizes.size(); ++d) span += (layout.sizes[d] - 1) * layout.strides[d];
  const std::vector<unsigned char> bytes = Download(buffer, span);
  for (size_t i = 0; i < values.size(); ++i) {
    int64_t rest = int64_t(i), offset = 0;
    for (size_t d = layout.sizes.size(); d-- > 0; rest /= layout.sizes[d]) {
      offset += rest % layout.sizes[d] * layout.strides[d];
    }
    values[i] = Decode(buffer.dtype, bytes.data() + size_t(offset) * SizeOf(buffer.dtype));
  }
  return values;
}

// The expected values of an output. For many elements there are evenly spread samples. Stripes of neighbours, added up
// with signs that a hash of the position gives, cover all elements. Values that are not finite are counted instead.
struct Stripe {
  double sum, tolerance;
};

struct Expected {
  const char* name;
  Layout layout;
  double absolute, relative;  // tolerance of an element: absolute + relative * |expected|
  int64_t not_finite;
  std::vector<double> samples;
  size_t stripe_length;
  std::vector<Stripe> stripes;
};

int wrong = 0;  // number of comparisons that failed

// Counts a wrong value. Prints the first few.
template <typename... Values>
void Wrong(const Expected& expected, const char* format, Values... values) {
  if (++wrong > 5) return;
  std::printf("wrong: %s", expected.name);
  std::printf(format, values...);
}

double SignOf(int64_t position) {
  uint64_t bits = uint64_t(position) + 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits >> 63 == 0 ? 1 : -1;
}

bool IsNear(double actual, double expected, double tolerance) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected))) return true;
  return std::isfinite(actual) && std::isfinite(expected) && std::abs(actual - expected) <= tolerance;
}

void CheckSamples(const std::vector<double>& values, const Expected& expected) {
  const int64_t elements = int64_t(values.size()), samples = int64_t(expected.samples.size());
  for (int64_t i = 0; i < samples; ++i) {
    const int64_t position = samples == 1 ? 0 : i * (elements - 1) / (samples - 1);
    const double wanted = expected.samples[size_t(i)], actual = values[size_t(position)];
    const double tolerance = expected.absolute + expected.relative * std::abs(wanted);
    if (IsNear(actual, wanted, tolerance)) continue;
    std::string where;
    for (const int64_t index : expected.layout.IndexOf(position)) {
      where += (where.empty() ? "" : ", ") + std::to_string(index);
    }
    Wrong(expected, "[%s]: expected %.9g, got %.9g, tolerance %.3g\n", where.c_str(), wanted, actual, tolerance);
  }
}

void CheckStripes(const std::vector<double>& values, const Expected& expected) {
  for (size_t i = 0; i < expected.stripes.size(); ++i) {
    double sum = 0;
    const size_t first = i * expected.stripe_length, end = std::min(first + expected.stripe_length, values.size());
    for (size_t k = first; k < end; ++k) sum += std::isfinite(values[k]) ? SignOf(int64_t(k)) * values[k] : 0;
    const Stripe& wanted = expected.stripes[i];
    if (IsNear(sum, wanted.sum, wanted.tolerance)) continue;
    Wrong(expected, ", elements %zu to %zu: signed sum expected %.9g, got %.9g, tolerance %.3g\n", first, end - 1,
          wanted.sum, sum, wanted.tolerance);
  }
}

void CheckOutput(Buffer buffer, const Expected& expected) {
  const std::vector<double> values = ValuesOf({buffer, expected.layout});
  CheckSamples(values, expected);
  CheckStripes(values, expected);
  const auto is_not_finite = [](double value) { return !std::isfinite(value); };
  const int64_t not_finite = std::count_if(values.begin(), values.end(), is_not_finite);
  if (not_finite == expected.not_finite) return;
  Wrong(expected, ": expected %lld values that are not finite, got %lld\n", (long long)expected.not_finite,
        (long long)not_finite);
}
