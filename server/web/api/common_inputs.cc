#include "server/web/api/common_inputs.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "proto/base/status_macros.h"
#include "server/web/api/common.h"
#include "server/web/rows/by_keys.h"
#include "server/web/rows/optional_column.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;

// Inputs beyond this number are left out.
constexpr size_t kMostInputs = 500;

std::set<InputKey> InputsOf(const ComparisonItem& item) {
  std::set<InputKey> inputs;
  for (const ComparedAttempt& attempt : item.attempts) inputs.insert(attempt.input);
  return inputs;
}

std::vector<InputKey> FindCommon(const std::vector<ComparisonItem>& items) {
  std::map<InputKey, size_t> counts;
  for (const ComparisonItem& item : items) {
    for (const InputKey& input : InputsOf(item)) ++counts[input];
  }
  std::vector<InputKey> common;
  for (const auto& [input, count] : counts) {
    if (count == items.size()) common.push_back(input);
  }
  return common;
}

// Orders the inputs by their labels. The keys of texts follow the order in which the attempts were summarised, which a
// restart changes.
absl::Status OrderByLabels(const Call& call, std::vector<InputKey>* inputs) {
  std::set<int64_t> texts;
  for (const InputKey& input : *inputs) texts.insert({input.shapes, input.dtypes, input.hardware});
  std::map<int64_t, std::optional<std::string>> labels;
  RETURN_IF_ERROR(rows::ReadByKeys(
      call.scratch, "SELECT text, label FROM texts WHERE text", std::vector<int64_t>(texts.begin(), texts.end()),
      [&labels](const storage::sql::Statement& row) { labels[row.Int(0)] = rows::OptionalString(row, 1); }));
  const auto labels_of = [&labels](const InputKey& input) {
    return std::tie(labels[input.shapes], labels[input.dtypes], labels[input.hardware], input);
  };
  std::sort(inputs->begin(), inputs->end(),
            [&](const InputKey& a, const InputKey& b) { return labels_of(a) < labels_of(b); });
  return absl::OkStatus();
}

std::vector<const ComparedAttempt*> BestByInput(const ComparisonItem& item, const std::vector<InputKey>& inputs) {
  std::map<InputKey, std::vector<ComparedAttempt>> attempts;
  for (const ComparedAttempt& attempt : item.attempts) attempts[attempt.input].push_back(attempt);
  std::vector<const ComparedAttempt*> best;
  for (const InputKey& input : inputs) {
    const ComparedAttempt* const of_input = BestOf(attempts[input]);
    const auto found = std::find_if(item.attempts.begin(), item.attempts.end(), [&](const ComparedAttempt& attempt) {
      return of_input != nullptr && attempt.key == of_input->key;
    });
    best.push_back(found == item.attempts.end() ? nullptr : &*found);
  }
  return best;
}

std::vector<std::optional<double>> TimesOf(const std::vector<const ComparedAttempt*>& attempts,
                                           std::optional<double> ComparedAttempt::*time) {
  std::vector<std::optional<double>> times;
  for (const ComparedAttempt* const attempt : attempts) {
    times.push_back(attempt == nullptr ? std::nullopt : attempt->*time);
  }
  return times;
}

void WriteTimes(JsonWriter& out, std::string_view key, const CommonInputs& inputs, size_t input,
                std::optional<double> ComparedAttempt::*time) {
  out.BeginArray(key);
  for (const auto& of_item : inputs.best) out.Value(TimesOf({of_item[input]}, time).front());
  out.EndArray();
}

// Writes the Named of a key of a text.
absl::Status WriteKey(const Call& call, std::string_view key, int64_t text, JsonWriter& out) {
  storage::sql::Statement find(call.scratch, "SELECT label, filter FROM texts WHERE text = ?1");
  ASSIGN_OR_RETURN(const bool found, find.Bind(text).Step());
  if (!found) return absl::InternalError("the summaries lack a text");
  WriteNamed(out, key, find, 0);
  return absl::OkStatus();
}

}  // namespace

std::vector<std::optional<double>> CommonInputs::BestTimes(size_t item) const {
  return TimesOf(best[item], &ComparedAttempt::best_ms);
}

std::vector<std::optional<double>> CommonInputs::DefaultTimes(size_t item) const {
  return TimesOf(best[item], &ComparedAttempt::default_ms);
}

absl::StatusOr<CommonInputs> KeepCommonInputs(const Call& call, std::vector<ComparisonItem>* items) {
  CommonInputs inputs = {.keys = FindCommon(*items), .best = {}};
  RETURN_IF_ERROR(OrderByLabels(call, &inputs.keys));
  if (inputs.keys.size() > kMostInputs) inputs.keys.resize(kMostInputs);
  const std::set<InputKey> kept(inputs.keys.begin(), inputs.keys.end());
  for (ComparisonItem& item : *items) {
    std::erase_if(item.attempts, [&](const ComparedAttempt& attempt) { return !kept.contains(attempt.input); });
  }
  for (const ComparisonItem& item : *items) inputs.best.push_back(BestByInput(item, inputs.keys));
  return inputs;
}

absl::Status WriteInputs(const Call& call, const CommonInputs& inputs, JsonWriter& out) {
  out.BeginArray("shapes");
  for (size_t i = 0; i < inputs.keys.size(); ++i) {
    out.BeginObject();
    RETURN_IF_ERROR(WriteKey(call, "shapes", inputs.keys[i].shapes, out));
    RETURN_IF_ERROR(WriteKey(call, "dtypes", inputs.keys[i].dtypes, out));
    RETURN_IF_ERROR(WriteKey(call, "hardware", inputs.keys[i].hardware, out));
    WriteTimes(out, "best_ms", inputs, i, &ComparedAttempt::best_ms);
    WriteTimes(out, "default_ms", inputs, i, &ComparedAttempt::default_ms);
    out.BeginArray("run_ids");
    for (const auto& of_item : inputs.best) {
      of_item[i] == nullptr ? out.Value(nullptr) : out.Value(of_item[i]->run_id);
    }
    out.EndArray();
    out.EndObject();
  }
  out.EndArray();
  return absl::OkStatus();
}

}  // namespace telemetry::web::api
