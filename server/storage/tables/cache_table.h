#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/storage/cache_put.h"
#include "server/storage/sql/database.h"
#include "server/storage/sql/statement.h"

namespace telemetry::storage::tables {

// The tables cache_entries and cache_senders. A put replaces only the sender's own entry. To make room it removes the
// sender's own oldest entries first and, if the total is still too large, the oldest entries of the sender that holds
// the most bytes. Part of the writer: used by one thread, inside the writer's transaction.
class CacheTable {
 public:
  // The most senders with entries. Each put reads the bytes of all senders.
  static constexpr size_t kMostSenders = 4096;
  // The most entries and bytes that one transaction removes to make room. After a budget was lowered, the first puts
  // leave more than the budget.
  static constexpr int64_t kRemovalsAtOnce = 10'000;
  static constexpr int64_t kRemovedBytesAtOnce = int64_t{64} << 20;

  explicit CacheTable(sql::Database& database);

  // Stores the entries in the given order. outcomes[i] belongs to puts[i].
  absl::StatusOr<std::vector<CachePutOutcome>> Store(absl::Span<const CachePut> puts, const CacheBudget& budget,
                                                     int64_t now_unix_us);

  // Makes the next Store count the bytes of all senders again. Call it after a transaction that was not committed.
  void Forget() { is_counted_ = false; }

 private:
  struct Sender {
    int64_t key = 0;
    int64_t bytes = 0;
    bool is_changed = false;
  };

  // Reads the senders, and locks them until the end of the transaction, so that other collectors do not remove the same
  // entries.
  absl::Status ReadSenders();
  // Computes the bytes of all senders from their entries: another program may have changed the tables.
  absl::Status CountBytes();
  absl::StatusOr<Sender*> FindOrInsertSender(const std::string& name);
  absl::Status RemoveExpired(int64_t oldest_unix_us, uint64_t* removed);
  absl::StatusOr<CachePutOutcome> Put(const CachePut& put, const CacheBudget& budget, int64_t now_unix_us);
  // Sets `outcome->kept` if the entry with this key does not fulfil the condition of the put.
  absl::Status CheckCondition(const CachePut& put, int64_t entry, int64_t now_unix_us, CachePutOutcome* outcome);
  // Removes entries until `size` more bytes of the sender fit into the budgets.
  absl::Status MakeRoom(Sender& sender, int64_t size, const CacheBudget& budget, uint64_t* removed);
  // Returns the sender that holds the most bytes; `preferred` if it holds as many.
  Sender& FindHeaviest(Sender& preferred);
  // Removes the sender's oldest entry. If there is none, corrects the sender's bytes to 0.
  absl::Status RemoveOldest(Sender& sender, uint64_t* removed);
  absl::Status RemoveEntry(int64_t entry, Sender& sender, int64_t bytes);
  absl::Status WriteSenders();

  sql::Database& database_;
  bool is_counted_ = false;  // CountBytes has run
  absl::flat_hash_map<std::string, Sender> senders_;
  int64_t total_bytes_ = 0;
  int64_t removals_left_ = 0;
  int64_t removed_bytes_left_ = 0;
  sql::Statement lock_senders_;
  sql::Statement find_sender_;
  sql::Statement insert_sender_;
  sql::Statement update_sender_;
  sql::Statement remove_sender_;
  sql::Statement find_entry_;
  sql::Statement read_entry_;
  sql::Statement insert_entry_;
  sql::Statement oldest_entry_;
  sql::Statement oldest_entries_;
  sql::Statement remove_entry_;
};

}  // namespace telemetry::storage::tables
