#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "server/storage/sql/statement.h"
#include "server/web/api/call.h"

namespace telemetry::web::api {

// The conditions of a SELECT on the dataset, joined by AND. Their values are bound, so that no text of a request
// becomes a part of the SQL. Must outlive the statements that it is bound to.
class Condition {
 public:
  // A value that is bound.
  struct Value {
    std::string bytes;
    bool is_blob = false;
  };
  static Value Text(std::string text) { return {std::move(text), /*is_blob=*/false}; }
  static Value Blob(std::string bytes) { return {std::move(bytes), /*is_blob=*/true}; }

  // Adds a condition, in which each "@" stands for the next one of the values.
  void Add(std::string_view condition, const std::vector<Value>& values = {});
  // Adds that the name of the sender in this column is the parameter `sender`; an empty one stands for no name.
  absl::Status AddSender(const Call& call, std::string_view column);
  // Adds that this column of microseconds is within the parameters `since` and `until`.
  absl::Status AddTimes(const Call& call, std::string_view column);

  // Returns the SQL: "1 = 1" if there is no condition.
  const std::string& sql() const { return sql_; }
  void BindTo(storage::sql::Statement& statement) const;

 private:
  std::string sql_ = "1 = 1";
  std::vector<Value> values_;
};

}  // namespace telemetry::web::api
