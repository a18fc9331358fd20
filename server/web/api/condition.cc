#include "server/web/api/condition.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "server/web/summary/named_text.h"

namespace telemetry::web::api {

using record::Cat;

void Condition::Add(std::string_view condition, const std::vector<Value>& values) {
  auto next = values_.size();
  values_.insert(values_.end(), values.begin(), values.end());
  sql_ += " AND ";
  for (const char c : condition) c == '@' ? sql_.append(Cat("?", ++next)) : sql_.append(1, c);
}

absl::Status Condition::AddSender(const Call& call, std::string_view column) {
  ASSIGN_OR_RETURN(std::optional<std::string> sender, call.parameters.Text("sender"));
  if (!sender.has_value()) return absl::OkStatus();
  const bool is_nameless = sender->empty() || *sender == summary::kNullFilter;
  is_nameless ? Add(Cat(column, " IS NULL")) : Add(Cat(column, " = @"), {Text(*std::move(sender))});
  return absl::OkStatus();
}

absl::Status Condition::AddTimes(const Call& call, std::string_view column) {
  ASSIGN_OR_RETURN(const std::optional<int64_t> since, call.parameters.Int("since"));
  if (since.has_value()) Add(Cat(column, " / 1000 >= ", *since));
  ASSIGN_OR_RETURN(const std::optional<int64_t> until, call.parameters.Int("until"));
  if (until.has_value()) Add(Cat(column, " / 1000 < ", *until));
  return absl::OkStatus();
}

void Condition::BindTo(storage::sql::Statement& statement) const {
  statement.Reset();
  int index = 0;
  for (const Value& value : values_) {
    ++index;
    value.is_blob ? statement.BindOne(index, storage::sql::Blob{value.bytes}) : statement.BindOne(index, value.bytes);
  }
}

}  // namespace telemetry::web::api
