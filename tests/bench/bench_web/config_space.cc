#include "tests/bench/bench_web/config_space.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "proto/record/ids.h"
#include "proto/record/json.h"
#include "proto/record/python_literal.h"

namespace telemetry::bench {
namespace {

// The numbers of values of the knobs.
constexpr std::array<uint64_t, 13> kRadixes = {6, 6, 5, 3, 3, 3, 3, 5, 5, 3, 4, 2, 3};
// The largest influence of a knob on the time.
constexpr std::array<double, 13> kInfluences = {1.2, 0.9, 0.5, 0.2, 0.1, 0.05, 0.02, 0.4, 0.6, 0.1, 0.05, 0.02, 0.01};

using Digits = std::array<uint64_t, kRadixes.size()>;

// Returns the digits of a point in a mixed radix. The step is coprime to the number of points, so that consecutive
// points are far apart and different.
Digits DigitsOf(uint64_t point) {
  constexpr uint64_t kStep = 1000003;
  uint64_t points = 1;
  for (const uint64_t radix : kRadixes) points *= radix;
  uint64_t rest = point * kStep % points;
  Digits digits;
  for (size_t i = 0; i < digits.size(); ++i) {
    digits[i] = rest % kRadixes[i];
    rest /= kRadixes[i];
  }
  return digits;
}

std::string TextOf(const Digits& digits) {
  constexpr const char* kIndexing[] = {"pointer", "tensor_descriptor", "block_ptr"};
  constexpr const char* kEviction[] = {"", "first", "last"};
  constexpr const char* kPidType[] = {"flat", "persistent_blocked", "persistent_interleaved"};
  constexpr const char* kOrders[] = {"[0, 1]", "[1, 0]"};
  constexpr const char* kFlags[] = {"None", "True", "False"};
  return absl::StrFormat(
      "Config(block_sizes=[%d, %d, %d], indexing=['%s', '%s'], l2_groupings=[1], load_eviction_policies=['%s', '%s'], "
      "loop_orders=[%s], num_stages=%d, num_warps=%d, pid_type='%s', range_flattens=[%s], range_unroll_factors=[%d])",
      16 << digits[0], 16 << digits[1], 16 << digits[2], kIndexing[digits[3]], kIndexing[digits[4]],
      kEviction[digits[5]], kEviction[digits[6]], kOrders[digits[11]], 1 + digits[7], 1 << digits[8],
      kPidType[digits[9]], kFlags[digits[12]], digits[10]);
}

double FactorOf(uint64_t kernel, const Digits& digits) {
  double factor = 1;
  for (size_t i = 0; i < digits.size(); ++i) {
    factor *= 1 + kInfluences[i] * Share((kernel << 32) ^ (i << 8) ^ digits[i]);
  }
  return factor;
}

}  // namespace

uint64_t Mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

double Share(uint64_t value) { return static_cast<double>(Mix(value) >> 11) / static_cast<double>(uint64_t{1} << 53); }

std::vector<PlannedConfig> MakeConfigs(uint64_t kernel, size_t count) {
  std::vector<PlannedConfig> configs(count);
  for (size_t i = 0; i < count; ++i) {
    const Digits digits = DigitsOf(kernel * 7919 + i);
    configs[i].record.set_text(TextOf(digits));
    const absl::StatusOr<record::Json> parsed = record::ParseConfig(configs[i].record.text());
    if (!parsed.ok()) {
      std::fprintf(stderr, "%s\n", parsed.status().ToString().c_str());
      std::abort();
    }
    configs[i].record.set_config_id(record::ConfigId(*parsed));
    configs[i].factor = FactorOf(kernel, digits);
  }
  return configs;
}

}  // namespace telemetry::bench
