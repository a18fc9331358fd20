#include "worker/tune/search/dimension.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "absl/strings/numbers.h"
#include "worker/codegen/config_parameter.h"
#include "worker/tune/search/permutation.h"

namespace telemetry::worker::tune::search {
namespace {

using codegen::ConfigParameter;
using record::Json;
using Kind = ConfigParameter::Kind;

constexpr int64_t kSizesNextToNone = 4;  // the number of largest sizes that are neighbours of None
constexpr int64_t kFewIntegers = 32;     // a dimension with more values also has long steps
constexpr double kWidest = 16;           // the largest value of an ordinal as a feature
constexpr int64_t kStridesAcross = 8;    // the number of long steps across a dimension

int64_t ToNumber(const Json& value) {
  int64_t number = 0;
  (void)absl::SimpleAtoi(value.text, &number);
  return number;
}

std::vector<int64_t> FindSwaps(int64_t ordinal, int64_t length) {
  std::vector<int64_t> permutation = PermutationAt(ordinal, length);
  std::vector<int64_t> swaps;
  for (size_t i = 0; i < permutation.size(); ++i) {
    for (size_t j = i + 1; j < permutation.size(); ++j) {
      std::swap(permutation[i], permutation[j]);
      swaps.push_back(OrdinalOfPermutation(permutation));
      std::swap(permutation[i], permutation[j]);
    }
  }
  std::sort(swaps.begin(), swaps.end());
  return swaps;
}

std::vector<int64_t> AllBut(int64_t ordinal, int64_t count) {
  std::vector<int64_t> others;
  for (int64_t other = 0; other < count; ++other) {
    if (other != ordinal) others.push_back(other);
  }
  return others;
}

std::vector<int64_t> StepsFrom(int64_t ordinal, int64_t count) {
  std::vector<int64_t> steps = {1};
  if (count > kFewIntegers) steps.push_back(count / kStridesAcross);
  std::vector<int64_t> near;
  for (const int64_t step : steps) {
    if (ordinal - step >= 0) near.push_back(ordinal - step);
    if (ordinal + step < count) near.push_back(ordinal + step);
  }
  std::sort(near.begin(), near.end());
  return near;
}

}  // namespace

Dimension::Dimension(ConfigParameter parameter) : parameter_(std::move(parameter)) {
  count_ = NumberCount() + (parameter_.optional ? 1 : 0);
  default_ordinal_ = FindOrdinal(parameter_.default_value).value_or(0);
}

bool Dimension::is_ordered() const { return parameter_.kind == Kind::kPowerOfTwo || parameter_.kind == Kind::kInteger; }

int64_t Dimension::NumberCount() const {
  switch (parameter_.kind) {
    case Kind::kPowerOfTwo:
      return static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(parameter_.high / parameter_.low)));
    case Kind::kInteger:
      return parameter_.high - parameter_.low + 1;
    case Kind::kBoolean:
      return 2;
    case Kind::kChoice:
      return static_cast<int64_t>(parameter_.choices.size());
    case Kind::kPermutation:
      return PermutationCount(parameter_.low);
  }
  return 0;
}

int64_t Dimension::NumberAt(int64_t ordinal) const {
  return parameter_.kind == Kind::kPowerOfTwo ? parameter_.low << ordinal : parameter_.low + ordinal;
}

Json Dimension::ValueAt(int64_t ordinal) const {
  if (IsNone(ordinal)) return Json::Null();
  switch (parameter_.kind) {
    case Kind::kPowerOfTwo:
    case Kind::kInteger:
      return Json::Integer(NumberAt(ordinal));
    case Kind::kBoolean:
      return Json::Bool(ordinal == 1);
    case Kind::kChoice:
      return parameter_.choices[static_cast<size_t>(ordinal)];
    case Kind::kPermutation:
      break;
  }
  Json order = Json::Array();
  for (const int64_t item : PermutationAt(ordinal, parameter_.low)) order.items.push_back(Json::Integer(item));
  return order;
}

std::optional<int64_t> Dimension::FindOrdinal(const Json& value) const {
  if (!codegen::Allows(parameter_, value)) return std::nullopt;
  if (value.is_null()) return count_ - 1;
  switch (parameter_.kind) {
    case Kind::kPowerOfTwo:
      return std::bit_width(static_cast<uint64_t>(ToNumber(value) / parameter_.low)) - 1;
    case Kind::kInteger:
      return ToNumber(value) - parameter_.low;
    case Kind::kBoolean:
      return value.kind == Json::Kind::kTrue ? 1 : 0;
    case Kind::kChoice:
      return std::find(parameter_.choices.begin(), parameter_.choices.end(), value) - parameter_.choices.begin();
    case Kind::kPermutation:
      break;
  }
  std::vector<int64_t> permutation;
  for (const Json& item : value.items) permutation.push_back(ToNumber(item));
  return OrdinalOfPermutation(permutation);
}

std::vector<int64_t> Dimension::FindNeighbours(int64_t ordinal) const {
  if (parameter_.kind == Kind::kPermutation) return FindSwaps(ordinal, parameter_.low);
  if (!is_ordered()) return AllBut(ordinal, count_);
  const int64_t numbers = NumberCount();
  const int64_t first_next_to_none = std::max<int64_t>(0, numbers - kSizesNextToNone);
  std::vector<int64_t> near;
  if (IsNone(ordinal)) {
    for (int64_t size = first_next_to_none; size < numbers; ++size) near.push_back(size);
    return near;
  }
  near = StepsFrom(ordinal, numbers);
  if (parameter_.optional && ordinal >= first_next_to_none) near.push_back(count_ - 1);
  return near;
}

void Dimension::Encode(int64_t ordinal, std::vector<double>* features) const {
  if (count_ <= 1) return;
  if (parameter_.kind == Kind::kPermutation) {
    for (const int64_t place : PermutationAt(ordinal, parameter_.low)) features->push_back(static_cast<double>(place));
    return;
  }
  if (parameter_.kind == Kind::kChoice && count_ > 2) {
    for (int64_t choice = 0; choice < count_; ++choice) features->push_back(choice == ordinal ? 1 : 0);
    return;
  }
  // The ordinal of a power of two is its logarithm, up to a constant. The scale limits integers with a wide range to
  // about the range of sizes.
  const double scale = std::min(1.0, kWidest / static_cast<double>(count_ - 1));
  features->push_back(static_cast<double>(ordinal) * scale);
  if (parameter_.optional) features->push_back(IsNone(ordinal) ? 1 : 0);
}

}  // namespace telemetry::worker::tune::search
