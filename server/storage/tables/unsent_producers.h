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
// each sender has at most kMostOfSender of them: another one removes the oldest, and may come only every
// kReplaceEveryUs. A producer whose row was removed gets UNAVAILABLE for its first batch and opens again. Part of the
// writer: used by one thread, inside the writer's transaction.
class UnsentProducers {
 public:
  static constexpr size_t kMostOfSender = 4096;
  // The rows of a flood cost the writer more than their own transactions: they fill the write-ahead log.
  static constexpr int64_t kReplaceEveryUs = 50'000;

  explicit UnsentProducers(sql::Database& database);

  // RESOURCE_EXHAUSTED: the sender has kMostOfSender of them and replaced one less than kReplaceEveryUs ago.
  absl::Status CheckAdd(int64_t sender, int64_t now_unix_us) const;
  // Adds a producer whose row was inserted in this transaction, and removes the sender's oldest rows above the limit, a
  // few at a time. Returns the ids that were selected for removal; those that have stored something in the meantime
  // stay.
  absl::StatusOr<std::vector<std::string>> Add(const std::string& producer_id, int64_t sender, int64_t now_unix_us);

  // Discards everything, for a transaction that will not be committed. The next Add() reloads it from the dataset.
  void Forget();

 private:
  absl::Status Load();

  struct OfSender {
    std::deque<std::string> ids;  // oldest first; some may have stored something in the meantime
    int64_t replaced_at_unix_us = 0;
  };

  bool is_loaded_ = false;
  absl::flat_hash_map<int64_t, OfSender> of_sender_;  // by sender (0: none)
  sql::Statement list_;
  sql::Statement remove_;
};

}  // namespace telemetry::storage::tables
