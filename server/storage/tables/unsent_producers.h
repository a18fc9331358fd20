#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sql/statement.h"

namespace telemetry::storage {

// The producers that were opened and have stored nothing yet. Their rows cost disk and say nothing but an epoch, so
// each sender has at most kMostOfSender of them: another one removes the oldest. A producer whose row was removed is
// told to open again when its first batch comes. Part of the writer: one thread, inside its transaction.
class UnsentProducers {
 public:
  static constexpr size_t kMostOfSender = 4096;

  explicit UnsentProducers(Database& database);

  // Takes in a producer whose row was made in this transaction, and removes the sender's oldest rows beyond the limit,
  // a few at a time. Returns the ids that were taken for removal; some of them may have stored something meanwhile, and
  // stay.
  absl::StatusOr<std::vector<std::string>> Add(const std::string& producer_id, int64_t sender);

  // Forgets everything; the next Add reads it from the dataset. For a transaction that is not going to be committed.
  void Forget();

 private:
  absl::Status Load();

  bool is_loaded_ = false;
  // By sender (0: nobody's), oldest first. Some may have stored something meanwhile.
  absl::flat_hash_map<int64_t, std::deque<std::string>> of_sender_;
  Statement list_;
  Statement remove_;
};

}  // namespace telemetry::storage
