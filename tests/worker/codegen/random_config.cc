#include "tests/worker/codegen/random_config.h"

#include <algorithm>
#include <bit>
#include <random>

namespace telemetry::worker::codegen {
namespace {

using record::Json;
using Kind = ConfigParameter::Kind;

class Choice {
 public:
  explicit Choice(uint64_t seed) : random_(seed) {}

  Json Of(const ConfigParameter& parameter) {
    switch (parameter.kind) {
      case Kind::kPowerOfTwo: {
        if (parameter.optional && Below(2) == 0) return Json::Null();
        const bool is_size = parameter.key == "block_sizes" || parameter.key == "reduction_loops";
        const int64_t high = is_size ? std::min(parameter.high, kLargestBlock) : parameter.high;
        const auto powers = static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(high / parameter.low)));
        return Json::Integer(parameter.low << Below(powers));
      }
      case Kind::kInteger:
        return Json::Integer(parameter.low + Below(parameter.high - parameter.low + 1));
      case Kind::kBoolean:
        return Json::Bool(Below(2) == 0);
      case Kind::kChoice:
        return parameter.choices[static_cast<size_t>(Below(static_cast<int64_t>(parameter.choices.size())))];
      case Kind::kPermutation: {
        Json order = parameter.default_value;
        std::shuffle(order.items.begin(), order.items.end(), random_);
        return order;
      }
    }
    return Json::Null();
  }

 private:
  static constexpr int64_t kLargestBlock = 32;

  int64_t Below(int64_t end) { return static_cast<int64_t>(uint64_t{random_()} % static_cast<uint64_t>(end)); }

  std::mt19937_64 random_;
};

}  // namespace

Config RandomConfig(const ConfigSpace& space, uint64_t seed) {
  Choice choice(seed);
  Json object = Json::Object();
  for (const ConfigParameter& parameter : space.parameters()) {
    const Json value = choice.Of(parameter);
    if (parameter.index < 0) {
      object.members.emplace_back(parameter.key, value);
      continue;
    }
    if (parameter.index == 0) object.members.emplace_back(parameter.key, Json::Array());
    object.members.back().second.items.push_back(value);
  }
  return Config(std::move(object));
}

}  // namespace telemetry::worker::codegen
