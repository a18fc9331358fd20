#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "server/storage/sql/statement.h"

namespace telemetry::web::summary {

// Stores the texts of the summaries, each once. Used by the writer of the summaries.
class TextTable {
 public:
  explicit TextTable(storage::sql::Database& scratch);

  // Returns the key of a text; 0 for nullopt. Stores a text that is new.
  absl::StatusOr<int64_t> Key(std::optional<std::string_view> text);

  // Forgets cached keys, after a transaction that was rolled back.
  void Forget() { keys_.clear(); }

 private:
  absl::flat_hash_map<std::string, int64_t> keys_;  // by digest; bounded
  storage::sql::Statement find_;
  storage::sql::Statement insert_;
};

}  // namespace telemetry::web::summary
