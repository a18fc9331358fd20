// ---- Values, as they are stored in memory.

enum DType { F32, F16, BF16, I32, BOOL };

size_t SizeOf(DType dtype) { return dtype == BOOL ? 1 : dtype == F16 || dtype == BF16 ? 2 : 4; }

// The format of a float of 16 bits: the number of mantissa bits, and the bias of the exponent.
struct Half {
  int mantissa, bias;
};

Half HalfOf(DType dtype) { return dtype == F16 ? Half{10, 15} : Half{7, 127}; }

// Rounds to the nearest, ties to even.
uint16_t ToHalf(double value, Half half) {
  const int sign = std::signbit(value) ? 0x8000 : 0;
  const int infinity = (2 * half.bias + 1) << half.mantissa;
  if (value == 0) return uint16_t(sign);
  if (std::isnan(value)) return uint16_t(infinity | 1 << (half.mantissa - 1));
  if (std::isinf(value)) return uint16_t(sign | infinity);
  int exponent = 0;
  std::frexp(value, &exponent);
  exponent = std::max(exponent - 1, 1 - half.bias);
  const double units = std::nearbyint(std::ldexp(std::abs(value), half.mantissa - exponent));
  // The hidden bit of the mantissa, or a carry beyond it, increments the exponent.
  const double bits = std::ldexp(exponent + half.bias - 1, half.mantissa) + units;
  return uint16_t(sign | int(std::min(bits, double(infinity))));
}

double FromHalf(uint16_t bits, Half half) {
  const int exponent = (bits & 0x7fff) >> half.mantissa;
  int units = bits & ((1 << half.mantissa) - 1);
  double value = exponent > 2 * half.bias && units != 0 ? NAN : INFINITY;
  if (exponent > 0) units |= 1 << half.mantissa;
  if (exponent <= 2 * half.bias) value = std::ldexp(units, std::max(exponent, 1) - half.bias - half.mantissa);
  return (bits & 0x8000) != 0 ? -value : value;
}

template <typename Element>
void Put(Element element, unsigned char* to) {
  std::memcpy(to, &element, sizeof(element));
}

template <typename Element>
Element Get(const unsigned char* from) {
  Element element;
  std::memcpy(&element, from, sizeof(element));
  return element;
}

std::vector<unsigned char> Encode(DType dtype, const std::vector<double>& values) {
  std::vector<unsigned char> bytes(values.size() * SizeOf(dtype));
  unsigned char* to = bytes.data();
  for (const double value : values) {
    if (dtype == F32) Put(float(value), to);
    if (dtype == F16 || dtype == BF16) Put(ToHalf(value, HalfOf(dtype)), to);
    if (dtype == I32) Put(int32_t(value), to);
    if (dtype == BOOL) *to = value != 0;
    to += SizeOf(dtype);
  }
  return bytes;
}

double Decode(DType dtype, const unsigned char* from) {
  if (dtype == F32) return Get<float>(from);
  if (dtype == I32) return Get<int32_t>(from);
  return dtype == BOOL ? *from : FromHalf(Get<uint16_t>(from), HalfOf(dtype));
}
