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

namespace telemetry::storage::tables {

// The producers that were opened and have stored nothing yet. Their rows cost disk space and contain only an epoch, so
// each sender has at most kMostOfSender of them: another one removes the oldest. A producer whose row was removed gets
// UNAVAILABLE for its first batch and opens again. Part of the writer: used by one thread, inside the writer's
// transaction.
class UnsentProducers {
 public:
  static constexpr size_t kMostOfSender = 4096;

  explicit UnsentProducers(sql::Database& database);

  // Adds a producer whose row was inserted in this transaction, and removes the sender's oldest rows above the limit, a
  // few at a time. Returns the ids that were selected for removal; those that have stored something in the meantime
  // stay.
  absl::StatusOr<std::vector<std::string>> Add(const std::string& producer_id, int64_t sender);

  // Discards everything, for a transaction that will not be committed. The next Add() reloads it from the dataset.
  void Forget();

 private:
  absl::Status Load();

  bool is_loaded_ = false;
  // By sender (0: none), oldest first. Some may have stored something in the meantime.
  absl::flat_hash_map<int64_t, std::deque<std::string>> of_sender_;
  sql::Statement list_;
  sql::Statement remove_;
};

}  // namespace telemetry::storage::tables
