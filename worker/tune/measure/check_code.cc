#include "worker/tune/measure/check_code.h"

#include <algorithm>

#include "proto/base/status_macros.h"
#include "worker/device/kernel_words.h"

namespace telemetry::worker::tune::measure {
namespace {

using device::Buffer;
using device::Module;

// Floats that are not negative have the order of their bits, so an integer atomic can compute their maximum.
constexpr char kCheckBody[] = R"(
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#if defined(cl_khr_fp64) || defined(__CUDACC__)
#define HAS_DOUBLES
float double_error(double actual, double expected) {
  const int is_actual_nan = actual != actual;
  const int is_expected_nan = expected != expected;
  if (is_actual_nan || is_expected_nan) return is_actual_nan && is_expected_nan ? 0.0f : FLOAT_OF(INFINITE);
  if (actual == expected) return 0.0f;
  const double difference = actual > expected ? actual - expected : expected - actual;
  return difference != difference ? FLOAT_OF(INFINITE) : (float)difference;
}
#endif

// Exists only if the device has doubles.
#ifdef HAS_DOUBLES
KERNEL has_doubles(GLOBAL uint* unused) {}
#endif

float float_error(uint actual, uint expected) {
  if (is_nan(actual) || is_nan(expected)) return is_nan(actual) && is_nan(expected) ? 0.0f : FLOAT_OF(INFINITE);
  const float difference = FLOAT_OF(actual) - FLOAT_OF(expected);
  if (actual == expected || difference == 0.0f) return 0.0f;
  if (is_nan(BITS_OF(difference))) return FLOAT_OF(INFINITE);
  return difference < 0.0f ? -difference : difference;
}

float integer_error(int actual, int expected) {
  const i64 difference = (i64)actual - (i64)expected;
  return (float)(difference < 0 ? -difference : difference);
}

// Returns the error of an element that is not a double; sets the magnitude of the expected value.
float element_error(GLOBAL const uint* actual, int dtype, i64 i, uint expected, float* magnitude) {
  if (dtype >= 3) {
    *magnitude = integer_error((int)expected, 0);
    return integer_error(integer(actual, dtype, i), (int)expected);
  }
  *magnitude = is_nan(expected) || is_infinite(expected) ? 0.0f : FLOAT_OF(expected & 0x7fffffffu);
  return float_error(float_bits(actual, dtype, i), expected);
}

KERNEL compare_elements(GLOBAL const uint* actual, GLOBAL const uint* expected, int dtype, i64 elements,
                        float absolute, float relative, GLOBAL uint* counts, int slot) {
  GLOBAL uint* out = counts + slot * 6;
  uint mismatches = 0u;
  uint first = 0u;
  float worst_absolute = 0.0f;
  float worst_relative = 0.0f;
  EACH(i, 0, elements) {
    const uint wanted = dtype == 99 ? 0u : expected[i];
    float error;
    float magnitude;
#ifdef HAS_DOUBLES
    if (dtype == 99) {
      const double number = ((GLOBAL const double*)expected)[i];
      const float size = (float)(number < 0.0 ? -number : number);
      error = double_error(((GLOBAL const double*)actual)[i], number);
      magnitude = size == size && size < FLOAT_OF(INFINITE) ? size : 0.0f;
    } else
#endif
    error = element_error(actual, dtype, i, wanted, &magnitude);
    if (error > absolute + relative * magnitude) {
      ++mismatches;
      if (first == 0u) first = 0xffffffffu - (uint)i;
    }
    if (error > worst_absolute) worst_absolute = error;
    if (magnitude > 0.0f && error / magnitude > worst_relative) worst_relative = error / magnitude;
  }
  if (mismatches != 0u) ADD(out, mismatches);
  if (first > out[1]) MAX(out + 1, first);
  if (BITS_OF(worst_absolute) > out[2]) MAX(out + 2, BITS_OF(worst_absolute));
  if (BITS_OF(worst_relative) > out[3]) MAX(out + 3, BITS_OF(worst_relative));
}

KERNEL compare_sample(GLOBAL const uint* actual, GLOBAL const uint* places, GLOBAL const uint* expected, int dtype,
                      i64 elements, float absolute, float relative, GLOBAL uint* counts, int slot) {
  GLOBAL uint* out = counts + slot * 6;
  EACH(i, 0, elements) {
    float magnitude;
    const float error = element_error(actual, dtype, (i64)places[i], expected[i], &magnitude);
    if (error > absolute + relative * magnitude) {
      ADD(out, 1u);
      MAX(out + 1, 0xffffffffu - (uint)i);
    }
  }
}

KERNEL widen(GLOBAL const uint* from, int dtype, i64 elements, GLOBAL uint* to) {
  EACH(i, 0, elements) {
    to[i] = dtype >= 3 ? (uint)integer(from, dtype, i) : float_bits(from, dtype, i);
  }
}

KERNEL count_damage(GLOBAL const unsigned char* memory, i64 gap_begin, i64 gap_end, i64 size, int value,
                    GLOBAL uint* counts, int slot) {
  const i64 gap = gap_end - gap_begin;
  uint damaged = 0u;
  EACH(i, 0, size - gap) {
    if (memory[i < gap_begin ? i : i + gap] != (unsigned char)value) ++damaged;
  }
  if (damaged != 0u) ADD(counts + slot * 6 + 4, damaged);
}

KERNEL hash_words(GLOBAL const uint* memory, i64 begin, i64 end, GLOBAL uint* counts, int slot) {
  uint sum = 0u;
  EACH(i, begin, end) {
    uint hash = memory[i] + (uint)i * 0x9e3779b9u;
    hash ^= hash >> 16;
    hash *= 0x85ebca6bu;
    hash ^= hash >> 13;
    hash *= 0xc2b2ae35u;
    sum += hash ^ (hash >> 16);
  }
  if (sum != 0u) ADD(counts + slot * 6 + 5, sum);
}
)";

static_assert(sizeof(CheckCounts) == 6 * sizeof(uint32_t), "the kernels write this layout");
absl::StatusOr<std::unique_ptr<device::Function>> Find(Module* module, const char* name) {
  return module->GetFunction(name);
}

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceChecks>> DeviceChecks::Create(device::Device* device) {
  const bool is_cuda = device->properties().dialect == device::Dialect::kCuda;
  ASSIGN_OR_RETURN(device::CompiledCode code, device->Compile(device::KernelWords(device->properties().dialect) +
                                                              device::ElementWords() + kCheckBody));
  ASSIGN_OR_RETURN(std::unique_ptr<Module> module, device->Load(code));
  auto compare = Find(module.get(), "compare_elements");
  auto compare_sample = Find(module.get(), "compare_sample");
  auto widen = Find(module.get(), "widen");
  auto count_damage = Find(module.get(), "count_damage");
  auto hash = Find(module.get(), "hash_words");
  for (const auto* function : {&compare, &compare_sample, &widen, &count_damage, &hash}) {
    if (!function->ok()) return function->status();
  }
  auto checks = std::unique_ptr<DeviceChecks>(new DeviceChecks());
  checks->has_doubles_ = Find(module.get(), "has_doubles").ok();
  checks->compute_units_ = std::max(1, device->properties().compute_units);
  checks->threads_ = is_cuda ? 256 : 64;
  checks->compare_ = *std::move(compare);
  checks->compare_sample_ = *std::move(compare_sample);
  checks->widen_ = *std::move(widen);
  checks->count_damage_ = *std::move(count_damage);
  checks->hash_ = *std::move(hash);
  return checks;
}

device::LaunchShape DeviceChecks::ShapeFor(int64_t elements) const {
  const int64_t blocks = (elements + threads_ - 1) / threads_;
  return {.grid = std::min<int64_t>(blocks, int64_t{8} * compute_units_), .threads = threads_};
}

absl::Status DeviceChecks::Compare(const Buffer* actual, const Buffer* expected, device::DType dtype, int64_t elements,
                                   const ir::Tolerance& tolerance, const Buffer* counts, int slot) {
  return Compare(actual, expected, static_cast<int>(dtype), elements, tolerance, counts, slot);
}

absl::Status DeviceChecks::CompareDoubles(const Buffer* actual, const Buffer* expected, int64_t elements,
                                          const ir::Tolerance& tolerance, const Buffer* counts, int slot) {
  constexpr int kDouble = 99;  // beyond the last DType
  if (!has_doubles_) return absl::InvalidArgumentError("the device has no doubles to compare results with");
  return Compare(actual, expected, kDouble, elements, tolerance, counts, slot);
}

absl::Status DeviceChecks::Compare(const Buffer* actual, const Buffer* expected, int dtype, int64_t elements,
                                   const ir::Tolerance& tolerance, const Buffer* counts, int slot) {
  return compare_->Launch(
      ShapeFor(elements),
      {actual, expected, static_cast<int32_t>(dtype), elements, static_cast<float>(tolerance.absolute),
       static_cast<float>(tolerance.relative), counts, static_cast<int32_t>(slot)});
}

absl::Status DeviceChecks::CompareSample(const Buffer* actual, const Buffer* places, const Buffer* expected,
                                         device::DType dtype, int64_t elements, const ir::Tolerance& tolerance,
                                         const Buffer* counts, int slot) {
  return compare_sample_->Launch(
      ShapeFor(elements),
      {actual, places, expected, static_cast<int32_t>(dtype), elements, static_cast<float>(tolerance.absolute),
       static_cast<float>(tolerance.relative), counts, static_cast<int32_t>(slot)});
}

absl::Status DeviceChecks::Widen(const Buffer* from, device::DType dtype, int64_t elements, const Buffer* to) {
  return widen_->Launch(ShapeFor(elements), {from, static_cast<int32_t>(dtype), elements, to});
}

absl::Status DeviceChecks::CountDamage(const Buffer* memory, int64_t gap_begin, int64_t gap_end, int64_t size,
                                       uint8_t value, const Buffer* counts, int slot) {
  return count_damage_->Launch(
      ShapeFor(size - (gap_end - gap_begin)),
      {memory, gap_begin, gap_end, size, static_cast<int32_t>(value), counts, static_cast<int32_t>(slot)});
}

absl::Status DeviceChecks::Hash(const Buffer* memory, int64_t begin, int64_t end, const Buffer* counts, int slot) {
  const int64_t begin_word = begin / 4;
  const int64_t end_word = (end + 3) / 4;
  return hash_->Launch(ShapeFor(end_word - begin_word),
                       {memory, begin_word, end_word, counts, static_cast<int32_t>(slot)});
}

}  // namespace telemetry::worker::tune::measure
