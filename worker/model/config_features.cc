#include "worker/model/config_features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "proto/record/json.h"
#include "proto/record/numbers.h"
#include "proto/record/strings.h"

namespace telemetry::worker::model {
namespace {

using record::Cat;
using record::Json;

constexpr size_t kPositions = 4;       // features for single items of a list
constexpr size_t kOtherValues = 12;    // features for keys that are not known
constexpr int kHashedTexts = 1 << 16;  // texts of other keys are numbers below this

constexpr std::array<std::string_view, 5> kFlagLists = {"range_flattens", "range_multi_buffers",
                                                        "range_warp_specializes", "static_ranges", "use_shared"};
constexpr std::array<std::string_view, 8> kScalars = {
    "num_warps", "num_stages",   "num_ctas", "num_threads",
    "maxnreg",   "waves_per_eu", "sh_power", "temporal_tiling_factor"};
constexpr std::array<std::string_view, 8> kKernelTunerSizes = {"block_size_x", "block_size_y",      "block_size_z",
                                                               "tile_size_x",  "tile_size_y",       "tile_size_z",
                                                               "vector",       "loop_unroll_factor"};
constexpr std::array<std::string_view, 4> kPidTypes = {"flat", "xyz", "persistent_blocked", "persistent_interleaved"};

// Returns a number that depends only on the text (FNV-1a), the same on every platform.
double HashOf(std::string_view text) {
  uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash % kHashedTexts;
}

double NumberOf(const Json& value) {
  if (value.kind == Json::Kind::kTrue) return 1;
  if (value.kind == Json::Kind::kFalse) return 0;
  if (value.kind == Json::Kind::kString) return HashOf(value.text);
  return value.kind == Json::Kind::kNumber ? record::ParseDecimal(value.text).value_or(kNotKnown) : kNotKnown;
}

// Reads the keys of a config, and notes which ones were read.
class Keys {
 public:
  explicit Keys(const codegen::Config& config) : config_(config.json()) {}

  // Returns the items of a list, or a list with a value that is none; nothing if the key is missing or null.
  std::vector<Json> Items(std::string_view key) {
    read_.emplace_back(key);
    const Json* const value = config_.Find(key);
    if (value == nullptr || value->is_null()) return {};
    return value->kind == Json::Kind::kArray ? value->items : std::vector<Json>{*value};
  }
  std::vector<double> Numbers(std::string_view key) {
    std::vector<double> numbers;
    for (const Json& item : Items(key)) numbers.push_back(NumberOf(item));
    return numbers;
  }
  double Number(std::string_view key) {
    const std::vector<double> numbers = Numbers(key);
    return numbers.empty() ? kNotKnown : numbers[0];
  }
  // Returns the values of the keys that were not read, each number of a list alone, in the order of the keys' names.
  std::vector<double> Rest() {
    std::vector<std::string> names;
    for (const auto& [name, value] : config_.members) {
      if (std::find(read_.begin(), read_.end(), name) == read_.end()) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    std::vector<double> rest;
    for (const std::string& name : names) {
      const std::vector<double> numbers = Numbers(name);
      rest.insert(rest.end(), numbers.begin(), numbers.end());
    }
    return rest;
  }

 private:
  const Json& config_;
  std::vector<std::string> read_;
};

double At(const std::vector<double>& numbers, size_t position) {
  return position < numbers.size() ? numbers[position] : kNotKnown;
}

void AddPositions(std::string_view key, const std::vector<double>& numbers, FeatureRow* row) {
  for (size_t i = 0; i < kPositions; ++i) row->Add(Cat(key, "[", i, "]"), At(numbers, i));
}

// Adds the number, product, least and largest value of a list of sizes, and its first values.
void AddSizes(std::string_view key, const std::vector<double>& sizes, FeatureRow* row) {
  double product = sizes.empty() ? kNotKnown : 1;
  double least = kNotKnown;
  double largest = kNotKnown;
  for (const double size : sizes) {
    if (std::isnan(size)) continue;
    product *= size;
    least = std::isnan(least) ? size : std::min(least, size);
    largest = std::isnan(largest) ? size : std::max(largest, size);
  }
  row->Add(Cat(key, ".count"), static_cast<double>(sizes.size()));
  row->Add(Cat(key, ".product"), product);
  row->Add(Cat(key, ".least"), least);
  row->Add(Cat(key, ".largest"), largest);
  AddPositions(key, sizes, row);
}

// Adds for each of some texts the number of items with it, and codes for the first items: the position in `texts`.
void AddTexts(std::string_view key, const std::vector<Json>& items, const std::vector<std::string_view>& texts,
              FeatureRow* row) {
  for (const std::string_view text : texts) {
    const auto count = std::count_if(items.begin(), items.end(), [&](const Json& item) { return item.text == text; });
    row->Add(Cat(key, ".", text), items.empty() ? kNotKnown : static_cast<double>(count));
  }
  for (size_t i = 0; i < kPositions; ++i) {
    const auto found = i < items.size() ? std::find(texts.begin(), texts.end(), items[i].text) : texts.end();
    const bool is_known = i < items.size();
    row->Add(Cat(key, "[", i, "]"), is_known ? static_cast<double>(found - texts.begin()) : kNotKnown);
  }
}

// Returns 1 if an order differs from 0, 1, 2 and so on.
double IsReordered(const std::vector<Json>& orders) {
  if (orders.empty()) return kNotKnown;
  for (const Json& order : orders) {
    for (size_t i = 0; i < order.items.size(); ++i) {
      if (NumberOf(order.items[i]) != static_cast<double>(i)) return 1;
    }
  }
  return 0;
}

double CodeOf(const std::vector<Json>& items, absl::Span<const std::string_view> texts) {
  if (items.empty()) return kNotKnown;
  return static_cast<double>(std::find(texts.begin(), texts.end(), items[0].text) - texts.begin());
}

}  // namespace

void AddConfigFeatures(const codegen::Config& config, FeatureRow* row) {
  Keys keys(config);
  AddSizes("block_sizes", keys.Numbers("block_sizes"), row);
  const std::vector<double> loops = keys.Numbers("reduction_loops");
  row->Add("reduction_loops.looped", static_cast<double>(std::count_if(loops.begin(), loops.end(),
                                                                       [](double size) { return !std::isnan(size); })));
  AddPositions("reduction_loops", loops, row);
  row->Add("loop_orders", IsReordered(keys.Items("loop_orders")));
  AddPositions("l2_groupings", keys.Numbers("l2_groupings"), row);
  row->Add("pid_type", CodeOf(keys.Items("pid_type"), kPidTypes));
  AddSizes("range_unroll_factors", keys.Numbers("range_unroll_factors"), row);
  AddSizes("range_num_stages", keys.Numbers("range_num_stages"), row);
  AddSizes("vector_widths", keys.Numbers("vector_widths"), row);
  AddTexts("indexing", keys.Items("indexing"), {"pointer", "block_ptr", "tensor_descriptor"}, row);
  AddTexts("load_eviction_policies", keys.Items("load_eviction_policies"), {"", "first", "last"}, row);
  AddTexts("store_eviction_policies", keys.Items("store_eviction_policies"), {"", "first"}, row);
  for (const std::string_view key : kScalars) row->Add(key, keys.Number(key));
  for (const std::string_view key : kFlagLists) {
    double set = kNotKnown;
    for (const double flag : keys.Numbers(key)) set = (std::isnan(set) ? 0 : set) + (flag > 0 ? 1 : 0);
    row->Add(key, set);
  }
  double threads = 1;
  double elements = 1;
  for (const std::string_view key : kKernelTunerSizes) {
    const double size = keys.Number(key);
    row->Add(key, size);
    if (std::isnan(size)) continue;
    if (key.starts_with("block_size")) threads *= size;
    if (key.starts_with("block_size") || key.starts_with("tile_size")) elements *= size;
  }
  row->Add("block_size.product", threads);
  row->Add("block_and_tile_size.product", elements);
  const std::vector<double> others = keys.Rest();
  for (size_t i = 0; i < kOtherValues; ++i) row->Add(Cat("other[", i, "]"), At(others, i));
}

}  // namespace telemetry::worker::model
