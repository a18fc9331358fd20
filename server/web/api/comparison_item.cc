#include "server/web/api/comparison_item.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"
#include "server/web/api/common.h"
#include "server/web/api/run_scope.h"
#include "server/web/api/stamp.h"
#include "server/web/rows/optional_column.h"

namespace telemetry::web::api {
namespace {

using record::Cat;
using rows::OptionalDouble;
using storage::sql::Statement;

constexpr size_t kLeastItems = 2;
constexpr size_t kMostItems = 8;
// The newest attempts of an item that are compared.
constexpr int64_t kMostComparedAttempts = 5000;
constexpr size_t kShortIdDigits = 8;

constexpr char kAttempts[] =
    "SELECT a.run, a.attempt, r.run_id, r.shapes, r.dtypes, r.hardware, a.row_count, a.best_rank, a.best_seq, "
    "a.best_ms, "
    "a.best_config_id, a.default_ms, n.label, s.label, h.label, o.label, a.attempt_id FROM runs AS r "
    "JOIN attempts AS a ON a.run = r.run LEFT JOIN kernels AS k ON k.kernel = r.kernel "
    "JOIN texts AS n ON n.text = r.name JOIN texts AS s ON s.text = r.shapes JOIN texts AS h ON h.text = r.hardware "
    "JOIN texts AS o ON o.text = a.origin WHERE ";

absl::Status WrongItem(std::string_view why) { return absl::InvalidArgumentError(Cat("parameter item: ", why)); }

// Returns the condition that the parameters kernel, shapes and dtypes state.
absl::StatusOr<std::string> KernelCondition(const Call& call) {
  if (!call.parameters.Has("kernel")) return WrongItem("a device or a version needs the parameter kernel");
  std::string condition;
  for (const auto& [parameter, column] : std::array<std::pair<const char*, const char*>, 3>{
           {{"kernel", "name"}, {"shapes", "shapes"}, {"dtypes", "dtypes"}}}) {
    ASSIGN_OR_RETURN(const std::optional<std::string> filter, call.parameters.Text(parameter));
    if (!filter.has_value()) continue;
    ASSIGN_OR_RETURN(const std::optional<int64_t> text, FindText(call.scratch, *filter));
    condition += Cat(condition.empty() ? "" : " AND ", "r.", column, " = ", text.value_or(-1));
  }
  return condition;
}

// Returns the condition that selects the attempts of an item.
absl::StatusOr<std::string> ItemCondition(const Call& call, std::string_view kind, const std::string& value) {
  if (kind == "run") {
    if (!record::IsHexId(value)) return WrongItem("a run_id has 64 hex digits in lower case");
    return Cat("r.run_id = ", Quoted(value));
  }
  if (kind == "attempt") {
    if (!IsAttemptId(value)) return WrongItem("an attempt_id has 32 hex digits in lower case");
    return Cat("a.attempt_id = ", Quoted(value));
  }
  if (kind != "device" && kind != "version") return WrongItem("it must begin with run:, attempt:, device: or version:");
  ASSIGN_OR_RETURN(const std::string of_kernel, KernelCondition(call));
  if (kind == "version") return Cat(of_kernel, " AND k.version = ", Quoted(value));
  ASSIGN_OR_RETURN(const std::optional<int64_t> text, FindText(call.scratch, value));
  return Cat(of_kernel, " AND r.hardware = ", text.value_or(-1));
}

std::string LabelOf(const ComparisonItem& item, const std::string& value, const Statement& row) {
  if (item.kind == "device") return row.IsNull(14) ? "not known" : row.String(14);
  if (item.kind == "version") return value;
  if (item.kind == "attempt") return row.Text(15).empty() ? value.substr(0, kShortIdDigits) : row.String(15);
  const std::string_view name = row.IsNull(12) ? std::string_view("run") : row.Text(12);
  return Cat(name, " ", row.Text(13), ", ", row.Text(14), ", ", value.substr(0, kShortIdDigits));
}

ComparedAttempt ReadAttempt(const Statement& row, bool is_of_device) {
  return {.key = {.run = row.Int(0), .attempt = row.Int(1)},
          .run_id = row.String(2),
          .input = {.shapes = row.Int(3), .dtypes = row.Int(4), .hardware = is_of_device ? 0 : row.Int(5)},
          .rows = row.Int(6),
          .best_rank = row.Int(7),
          .best_seq = row.Int(8),
          .best_ms = OptionalDouble(row, 9),
          .best_config_id = row.String(10),
          .default_ms = OptionalDouble(row, 11)};
}

// Splits an item at its colon.
absl::StatusOr<std::pair<std::string, std::string>> SplitItem(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return WrongItem("it must begin with run:, attempt:, device: or version:");
  return std::pair(text.substr(0, colon), text.substr(colon + 1));
}

absl::StatusOr<ComparisonItem> ReadItem(const Call& call, const std::string& text) {
  ASSIGN_OR_RETURN(const auto parts, SplitItem(text));
  ComparisonItem item = {.text = text, .kind = parts.first, .label = {}, .attempts = {}};
  const std::string& value = parts.second;
  ASSIGN_OR_RETURN(const std::string condition, ItemCondition(call, item.kind, value));
  Statement read(
      call.scratch,
      Cat(kAttempts, condition, " ORDER BY a.time_us DESC, a.attempt DESC LIMIT ", kMostComparedAttempts).c_str());
  RETURN_IF_ERROR(ForEachRow(read, [&] {
    if (item.attempts.empty()) item.label = LabelOf(item, value, read);
    item.attempts.push_back(ReadAttempt(read, item.kind == "device"));
    return absl::OkStatus();
  }));
  if (item.attempts.empty())
    return absl::NotFoundError(Cat("the dataset has no attempt of the ", item.kind, " ", value));
  return item;
}

// Runs and attempts can be compared with each other, devices and versions only with their own kind.
bool AreComparable(const ComparisonItem& a, const ComparisonItem& b) {
  return a.kind == b.kind || (!a.has_inputs() && !b.has_inputs());
}

bool HasBetterTime(const ComparedAttempt& a, const ComparedAttempt& b) {
  return std::pair(a.best_rank, *a.best_ms) < std::pair(b.best_rank, *b.best_ms);
}

}  // namespace

absl::StatusOr<std::vector<ComparisonItem>> ReadComparisonItems(const Call& call) {
  ASSIGN_OR_RETURN(const std::vector<std::string> texts, call.parameters.All("item", kMostItems));
  if (texts.size() < kLeastItems) return WrongItem("two to eight are needed");
  std::vector<ComparisonItem> items;
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(ComparisonItem item, ReadItem(call, text));
    items.push_back(std::move(item));
    if (!AreComparable(items.front(), items.back()))
      return WrongItem("devices and versions cannot be compared with others");
  }
  return items;
}

absl::StatusOr<std::string> StampOfItems(const Call& call) {
  ASSIGN_OR_RETURN(const std::vector<std::string> texts, call.parameters.All("item", kMostItems));
  std::string stamp;
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(const auto parts, SplitItem(text));
    ASSIGN_OR_RETURN(const std::string condition, ItemCondition(call, parts.first, parts.second));
    ASSIGN_OR_RETURN(const std::string of_item, StampOf(call, condition));
    stamp += Cat(of_item, ";");
  }
  return stamp;
}

const ComparedAttempt* BestOf(const std::vector<ComparedAttempt>& attempts) {
  const ComparedAttempt* best = nullptr;
  for (const ComparedAttempt& attempt : attempts) {
    if (attempt.best_ms.has_value() && (best == nullptr || HasBetterTime(attempt, *best))) best = &attempt;
  }
  return best;
}

}  // namespace telemetry::web::api
