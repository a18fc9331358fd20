#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sql/attempt_key.h"
#include "server/storage/sql/statement.h"
#include "server/web/summary/attempt_summary.h"
#include "server/web/summary/text_table.h"

namespace telemetry::web::summary {

// The state of an attempt that tells if its summary is up to date.
struct AttemptState {
  storage::sql::AttemptKey key;
  std::string state;
  AttemptSize size;

  friend bool operator==(const AttemptState&, const AttemptState&) = default;
};

// Copies attempts from the dataset into the summaries. Used by the writer of the summaries, inside its transactions.
class AttemptStore {
 public:
  AttemptStore(storage::sql::Database& dataset, storage::sql::Database& scratch, TextTable& texts);

  // Returns the keys and states of the attempts of the dataset with keys above `after`, in their order.
  absl::StatusOr<std::vector<AttemptState>> ListAfter(int64_t after, int64_t limit);
  // Returns the same of those below `before`, the newest first.
  absl::StatusOr<std::vector<AttemptState>> ListBefore(int64_t before, int64_t limit);
  // Returns the stored states of the attempts with keys above `after` up to `last`.
  absl::StatusOr<std::vector<AttemptState>> Stored(int64_t after, int64_t last);
  // Returns the stored attempts that may still grow, the last to change first.
  absl::StatusOr<std::vector<AttemptState>> Growing(int64_t changed_since_us, int64_t limit);
  // Returns the state of an attempt in the dataset, without its size; nullopt: it was removed.
  absl::StatusOr<std::optional<AttemptState>> Find(int64_t attempt);

  // Summarises an attempt and stores the result. `changed_us`: the time of the change; nullopt: not known.
  absl::Status Store(const storage::sql::AttemptKey& key, std::optional<int64_t> changed_us);
  absl::Status Remove(int64_t attempt);
  absl::StatusOr<AttemptSize> Measure(const storage::sql::AttemptKey& key) { return summariser_.Measure(key); }

 private:
  absl::StatusOr<std::vector<AttemptState>> Read(storage::sql::Statement& bound, bool with_size);
  absl::StatusOr<std::optional<std::string>> ConfigId(int64_t config);

  TextTable& texts_;
  AttemptSummariser summariser_;
  storage::sql::Statement list_after_;
  storage::sql::Statement list_before_;
  storage::sql::Statement find_;
  storage::sql::Statement stored_;
  storage::sql::Statement growing_;
  storage::sql::Statement read_;
  storage::sql::Statement config_id_;
  storage::sql::Statement insert_;
  storage::sql::Statement remove_;
};

}  // namespace telemetry::web::summary
