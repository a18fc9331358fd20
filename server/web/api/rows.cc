#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/numbers.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "server/web/api/common.h"
#include "server/web/api/config_text.h"
#include "server/web/api/endpoints.h"
#include "server/web/api/failure_group.h"
#include "server/web/api/run_scope.h"
#include "server/web/rows/row_cursor.h"
#include "server/web/rows/status_table.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;
using rows::Row;

// Which rows of a run are listed.
struct RowFilter {
  std::optional<std::string> status;
  std::optional<std::string> failure;
  std::vector<int64_t> configs;  // keys; one that does not exist: none
  bool has_config = false;
};

// A row that is listed, without its texts.
struct ListedRow {
  size_t attempt = 0;
  Row row;
  std::string failure;
};

absl::StatusOr<RowFilter> ReadFilter(const Call& call) {
  RowFilter filter;
  ASSIGN_OR_RETURN(filter.status, call.parameters.Text("status"));
  ASSIGN_OR_RETURN(filter.failure, call.parameters.Text("failure"));
  ASSIGN_OR_RETURN(const std::optional<std::string> config, call.parameters.Text("config_id"));
  if (!config.has_value()) return filter;
  filter.has_config = true;
  ASSIGN_OR_RETURN(filter.configs, FindConfigs(call.dataset, *config));
  return filter;
}

bool IsSelected(const RowFilter& filter, const rows::StatusTable& statuses, const Row& row) {
  if (filter.status.has_value() && statuses.Name(row.status) != *filter.status) return false;
  if (filter.has_config && std::find(filter.configs.begin(), filter.configs.end(), row.config) == filter.configs.end()) {
    return false;
  }
  if (!filter.failure.has_value()) return true;
  if (statuses.Kind(row.status) != rows::StatusKind::kFailed) return false;
  return ReasonOf(statuses.Name(row.status), row.failure).Id() == *filter.failure;
}

// The order of a list. Rows without the value come last.
struct Order {
  std::string column;
  bool is_descending = false;

  std::optional<double> Value(const Row& row) const {
    return column == "perf" ? row.perf_ms : column == "compile" ? row.compile_time_s : std::nullopt;
  }
  bool operator()(const ListedRow& a, const ListedRow& b) const {
    const auto place = std::pair(a.attempt, a.row.seq) < std::pair(b.attempt, b.row.seq);
    if (column == "seq") return is_descending ? std::pair(b.attempt, b.row.seq) < std::pair(a.attempt, a.row.seq) : place;
    const std::optional<double> left = Value(a.row);
    const std::optional<double> right = Value(b.row);
    if (left.has_value() != right.has_value()) return left.has_value();
    if (!left.has_value() || *left == *right) return place;
    return is_descending ? *left > *right : *left < *right;
  }
};

absl::StatusOr<std::vector<ListedRow>> ReadRows(const Call& call, const RunScope& scope, const RowFilter& filter,
                                                const rows::StatusTable& statuses) {
  rows::RowCursor cursor(call.dataset, rows::RowCursor::Failures::kRead);
  std::vector<ListedRow> listed;
  int64_t rows = 0;
  for (size_t i = 0; i < scope.attempts.size() && rows < kMostRows; ++i) {
    cursor.Begin(scope.attempts[i]);
    while (++rows < kMostRows) {
      ASSIGN_OR_RETURN(const bool found, cursor.Next());
      if (!found) break;
      if (!IsSelected(filter, statuses, cursor.row())) continue;
      listed.push_back({.attempt = i, .row = cursor.row()});
      listed.back().row.failure = {};
    }
    cursor.End();
  }
  return listed;
}

// Reads the failures of the rows of a page.
class FailureReader {
 public:
  explicit FailureReader(storage::sql::Database& dataset)
      : read_(dataset, {.text = "SELECT failure FROM measurements",
                        .key = storage::sql::kInRun,
                        .where = "attempt = ?1 AND seq = ?2"}) {}

  absl::StatusOr<std::string> Read(const storage::sql::AttemptKey& key, int64_t seq) {
    ASSIGN_OR_RETURN(const bool found, read_.Bind(storage::sql::InRun{key.run}, key.attempt, seq).Step());
    std::string text = found ? FailureText(read_.Text(0)) : "";
    read_.Reset();
    return text;
  }

 private:
  storage::sql::Statement read_;
};

void WriteRow(const RunScope& scope, const ListedRow& listed, const std::string& status,
              const ConfigTexts::Config& config, const std::string& failure, JsonWriter& out) {
  const Row& row = listed.row;
  out.BeginObject();
  out.Field("attempt_id", scope.attempt_ids[listed.attempt]);
  out.Field("seq", row.seq);
  out.Field("timestamp_s", row.timestamp_s);
  out.Field("generation", row.generation);
  out.Field("status", status);
  out.Field("perf_ms", row.perf_ms);
  out.Field("compile_time_s", row.compile_time_s);
  out.Field("config_id", config.id);
  out.Field("config", config.text);
  const std::string_view stage = rows::StageName(row.stage);
  stage.empty() ? out.Field("stage", nullptr) : out.Field("stage", stage);
  failure.empty() ? out.Field("failure", nullptr) : out.Field("failure", failure);
  out.EndObject();
}

}  // namespace

absl::Status ListRows(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow(
      {"sender", "status", "failure", "config_id", "sort", "limit", "cursor", "format"}, {"attempt"}));
  ASSIGN_OR_RETURN(const int64_t size, PageSize(call));
  ASSIGN_OR_RETURN(const std::string sort,
                   call.parameters.Choice("sort", {"seq", "-seq", "perf", "-perf", "compile", "-compile"}));
  ASSIGN_OR_RETURN(const std::optional<Cursor> cursor, ParseCursor(call));
  ASSIGN_OR_RETURN(const RunScope scope, FindRun(call));
  ASSIGN_OR_RETURN(const RowFilter filter, ReadFilter(call));
  rows::StatusTable statuses(call.dataset);
  RETURN_IF_ERROR(statuses.Refresh());
  ASSIGN_OR_RETURN(std::vector<ListedRow> rows, ReadRows(call, scope, filter, statuses));
  const bool is_descending = sort.front() == '-';
  const Order order = {.column = sort.substr(is_descending ? 1 : 0), .is_descending = is_descending};
  const size_t from = std::min(rows.size(), static_cast<size_t>(cursor.has_value() ? std::max<int64_t>(cursor->key, 0) : 0));
  const size_t to = std::min(rows.size(), from + static_cast<size_t>(size));
  std::partial_sort(rows.begin(), rows.begin() + static_cast<ptrdiff_t>(to), rows.end(), order);
  ConfigTexts texts(call.dataset);
  FailureReader failures(call.dataset);
  out.BeginObject();
  out.BeginArray("items");
  for (size_t i = from; i < to; ++i) {
    ASSIGN_OR_RETURN(const ConfigTexts::Config config, texts.Read(rows[i].row.config));
    ASSIGN_OR_RETURN(const std::string failure, failures.Read(scope.attempts[rows[i].attempt], rows[i].row.seq));
    WriteRow(scope, rows[i], statuses.Name(rows[i].row.status), config, failure, out);
  }
  out.EndArray();
  to < rows.size() ? out.Field("next_cursor", FormatCursor({.key = static_cast<int64_t>(to)}))
                   : out.Field("next_cursor", nullptr);
  out.EndObject();
  return absl::OkStatus();
}

}  // namespace telemetry::web::api
