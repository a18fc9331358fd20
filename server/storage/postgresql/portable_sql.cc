#include "server/storage/postgresql/portable_sql.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/str_cat.h"
#include "server/storage/sql/gathered.h"

namespace telemetry::storage {
namespace {

constexpr std::string_view kOpens = "/*postgresql ";
constexpr std::string_view kCloses = "*/";
constexpr std::string_view kRun = "?run";
constexpr std::string_view kGathered = "INSERT " TELEMETRY_GATHERED "INTO ";
constexpr std::string_view kValues = " VALUES (";

// Returns the highest parameter number.
int Parameters(std::string_view sql) {
  int most = 0;
  for (size_t at = sql.find('?'); at != std::string_view::npos; at = sql.find('?', at + 1)) {
    int number = 0;
    std::from_chars(sql.data() + at + 1, sql.data() + sql.size(), number);
    most = std::max(most, number);
  }
  return most;
}

bool ConsumePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

PgSql ToPgSql(std::string_view sql) {
  PgSql out{.text = {}, .parameters = Parameters(sql)};
  bool opened = false;
  while (!sql.empty()) {
    if (ConsumePrefix(sql, kOpens)) {
      opened = true;
    } else if (opened && ConsumePrefix(sql, kCloses)) {
      opened = false;
    } else if (ConsumePrefix(sql, kRun)) {
      if (out.run_parameter == 0) out.run_parameter = ++out.parameters;
      absl::StrAppend(&out.text, "$", out.run_parameter);
    } else {
      out.text.push_back(sql.front() == '?' ? '$' : sql.front());
      sql.remove_prefix(1);
    }
  }
  return out;
}

std::optional<PgCopy> ToPgCopy(const PgSql& sql) {
  std::string_view rest = sql.text;
  const size_t values = rest.find(kValues);
  if (values == std::string_view::npos || !ConsumePrefix(rest, kGathered)) return std::nullopt;
  const std::string target(rest.substr(0, values - kGathered.size()));
  PgCopy copy{.table = target.substr(0, target.find(' ')),
              .text = absl::StrCat("COPY ", target, " FROM STDIN (FORMAT binary)"),
              .parameters = {}};
  rest = std::string_view(sql.text).substr(values + kValues.size());
  rest = rest.substr(0, rest.find(')'));
  for (size_t at = rest.find('$'); at != std::string_view::npos; at = rest.find('$', at + 1)) {
    std::from_chars(rest.data() + at + 1, rest.data() + rest.size(), copy.parameters.emplace_back());
  }
  return copy;
}

}  // namespace telemetry::storage
