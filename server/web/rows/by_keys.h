#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "server/storage/sql/statement.h"

namespace telemetry::web::rows {

// Returns the keys in their order, each once.
std::vector<int64_t> InOrder(absl::Span<const int64_t> keys);

// Reads rows by their keys, many with each statement, in the order of the keys, so that a page of the database is read
// once. `select`: a SELECT that ends with "WHERE column"; `use` is called for each row.
template <typename Use>
absl::Status ReadByKeys(storage::sql::Database& dataset, std::string_view select, absl::Span<const int64_t> keys,
                        const Use& use) {
  constexpr size_t kKeysPerStatement = 500;
  const std::vector<int64_t> order = InOrder(keys);
  const absl::Span<const int64_t> sorted(order);
  for (size_t at = 0; at < sorted.size(); at += kKeysPerStatement) {
    const std::string list = absl::StrJoin(sorted.subspan(at, kKeysPerStatement), ", ");
    storage::sql::Statement read(dataset, record::Cat(select, " IN (", list, ")").c_str());
    while (true) {
      ASSIGN_OR_RETURN(const bool found, read.Step());
      if (!found) break;
      use(read);
    }
  }
  return absl::OkStatus();
}

}  // namespace telemetry::web::rows
