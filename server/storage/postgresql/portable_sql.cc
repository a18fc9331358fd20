#include "server/storage/postgresql/portable_sql.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/str_cat.h"

namespace telemetry::storage {
namespace {

constexpr std::string_view kOpens = "/*postgresql ";
constexpr std::string_view kCloses = "*/";
constexpr std::string_view kRun = "?run";

// The highest number of a parameter.
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

}  // namespace telemetry::storage
