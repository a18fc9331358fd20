#include "tests/environment.h"

#include <cstdlib>
#include <iostream>
#include <limits>
#include <random>
#include <stdexcept>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace telemetry {
namespace {

int64_t InRange(const char* name, int64_t otherwise, int64_t least, int64_t most) {
  const char* text = std::getenv(name);
  if (text == nullptr) return otherwise;
  int64_t value = 0;
  if (absl::SimpleAtoi(text, &value) && value >= least && value <= most) return value;
  throw std::invalid_argument(absl::StrCat("cannot use ", name, "='", text, "': expected a whole number from ", least,
                                           " to ", most, "; unset it for the default"));
}

}  // namespace

int64_t NumberFromEnvironment(const char* name, int64_t otherwise, int64_t least) {
  return InRange(name, otherwise, least, std::numeric_limits<int64_t>::max());
}

int Faults(int otherwise) {
  return static_cast<int>(InRange("TELEMETRY_FAULTS", otherwise, 1, std::numeric_limits<int>::max()));
}

unsigned TestSeed() {
  constexpr const char* kName = "TELEMETRY_SEED";
  const auto seed =
      static_cast<unsigned>(InRange(kName, std::random_device()(), 0, std::numeric_limits<unsigned>::max()));
  std::cout << kName << "=" << seed << std::endl;
  return seed;
}

}  // namespace telemetry
