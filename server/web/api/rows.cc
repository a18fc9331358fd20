#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proto/base/status_macros.h"
#include "server/web/api/common.h"
#include "server/web/api/config_text.h"
#include "server/web/api/endpoints.h"
#include "server/web/api/failure_group.h"
#include "server/web/api/row_failures.h"
#include "server/web/api/run_scope.h"
#include "server/web/rows/row_cursor.h"
#include "server/web/rows/status_table.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;
using rows::Row;

// The conditions on the rows that are listed.
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
};

// A page of the list.
struct Page {
  std::vector<ListedRow> rows;
  std::optional<Cursor> next;  // nullopt: the last page
  bool is_cut = false;         // further rows were not sorted
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
  if (filter.has_config &&
      std::find(filter.configs.begin(), filter.configs.end(), row.config) == filter.configs.end()) {
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
    if (column == "seq")
      return is_descending ? std::pair(b.attempt, b.row.seq) < std::pair(a.attempt, a.row.seq) : place;
    const std::optional<double> left = Value(a.row);
    const std::optional<double> right = Value(b.row);
    if (left.has_value() != right.has_value()) return left.has_value();
    if (!left.has_value() || *left == *right) return place;
    return is_descending ? *left > *right : *left < *right;
  }
};

ListedRow WithoutTexts(size_t attempt, const Row& row) {
  ListedRow listed = {.attempt = attempt, .row = row};
  listed.row.failure = {};
  return listed;
}

// Reads rows in the order of `seq`.
class PageReader {
 public:
  PageReader(const Call& call, const RunScope& scope, const RowFilter& filter, const rows::StatusTable& statuses)
      : scope_(scope),
        filter_(filter),
        statuses_(statuses),
        cursor_(call.dataset,
                filter.failure.has_value() ? rows::RowCursor::Failures::kRead : rows::RowCursor::Failures::kSkip) {}

  // Reads a page in the order of `seq`. The cursor is the row before the page. A page may have less rows than `size`.
  absl::StatusOr<Page> InOrder(const std::optional<Cursor>& after, size_t size) {
    ASSIGN_OR_RETURN(size_t attempt, AttemptOf(after));
    int64_t seq = after.has_value() ? after->key : 0;
    Page page;
    for (; attempt < scope_.attempts.size() && !page.next.has_value(); ++attempt, seq = 0) {
      RETURN_IF_ERROR(AddAttempt(attempt, seq, size, &page));
    }
    return page;
  }

  // Reads a page of another order, among the first kMostRows rows. The cursor is the number of rows before the page.
  absl::StatusOr<Page> Sorted(const std::optional<Cursor>& after, size_t size, const Order& order) {
    Page page;
    for (size_t i = 0; i < scope_.attempts.size() && read_ <= kMostRows; ++i) {
      RETURN_IF_ERROR(AddAttempt(i, 0, std::numeric_limits<size_t>::max(), &page));
    }
    page.is_cut = read_ > kMostRows;
    std::vector<ListedRow>& rows = page.rows;
    const size_t from =
        std::min(rows.size(), static_cast<size_t>(after.has_value() ? std::max<int64_t>(after->key, 0) : 0));
    const size_t to = std::min(rows.size(), from + size);
    std::partial_sort(rows.begin(), rows.begin() + static_cast<ptrdiff_t>(to), rows.end(), order);
    page.next = to < rows.size() ? std::optional(Cursor{.key = static_cast<int64_t>(to)}) : std::nullopt;
    rows.resize(to);
    rows.erase(rows.begin(), rows.begin() + static_cast<ptrdiff_t>(from));
    return page;
  }

 private:
  absl::StatusOr<size_t> AttemptOf(const std::optional<Cursor>& cursor) const {
    if (!cursor.has_value()) return 0;
    const auto found = std::find(scope_.attempt_ids.begin(), scope_.attempt_ids.end(), cursor->value);
    if (found == scope_.attempt_ids.end())
      return absl::InvalidArgumentError("parameter cursor: it belongs to another list");
    return static_cast<size_t>(found - scope_.attempt_ids.begin());
  }

  // Adds the selected rows of an attempt after `seq`, up to `size` rows in the page.
  absl::Status AddAttempt(size_t attempt, int64_t seq, size_t size, Page* page) {
    cursor_.Begin(scope_.attempts[attempt], seq);
    while (true) {
      ASSIGN_OR_RETURN(const bool found, cursor_.Next());
      if (!found) return absl::OkStatus();
      const bool is_selected = IsSelected(filter_, statuses_, cursor_.row());
      if ((is_selected && page->rows.size() == size) || ++read_ > kMostRows) break;
      seq = cursor_.row().seq;
      if (is_selected) page->rows.push_back(WithoutTexts(attempt, cursor_.row()));
    }
    cursor_.End();
    page->next = Cursor{.value = scope_.attempt_ids[attempt], .key = seq};
    return absl::OkStatus();
  }

  const RunScope& scope_;
  const RowFilter& filter_;
  const rows::StatusTable& statuses_;
  rows::RowCursor cursor_;
  int64_t read_ = 0;
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
  PageReader reader(call, scope, filter, statuses);
  const bool is_descending = sort.front() == '-';
  const Order order = {.column = sort.substr(is_descending ? 1 : 0), .is_descending = is_descending};
  const auto page_size = static_cast<size_t>(size);
  ASSIGN_OR_RETURN(const Page page,
                   sort == "seq" ? reader.InOrder(cursor, page_size) : reader.Sorted(cursor, page_size, order));
  ConfigTexts texts(call.dataset);
  RowFailures failures(call.dataset);
  out.BeginObject();
  out.BeginArray("items");
  for (const ListedRow& listed : page.rows) {
    ASSIGN_OR_RETURN(const ConfigTexts::Config config, texts.Read(listed.row.config));
    ASSIGN_OR_RETURN(const std::string failure,
                     failures.Read(scope.attempts[listed.attempt], listed.row.seq, rows::kMostFailureLength));
    WriteRow(scope, listed, statuses.Name(listed.row.status), config, FailureText(failure), out);
  }
  out.EndArray();
  page.next.has_value() ? out.Field("next_cursor", FormatCursor(*page.next)) : out.Field("next_cursor", nullptr);
  out.Field("cut", page.is_cut);
  out.EndObject();
  return absl::OkStatus();
}

}  // namespace telemetry::web::api
