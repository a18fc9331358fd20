#pragma once

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sql/statement.h"
#include "server/storage/store.h"

namespace telemetry::storage::tables {

// The table producers: each producer's epoch and committed_seq. A batch advances a producer in memory; Save() writes
// the rows once per transaction. Part of the writer: used by one thread, inside the writer's transaction.
class ProducerTable {
 public:
  struct Producer {
    uint64_t epoch = 0;
    uint64_t committed_seq = 0;
    std::string client;
    int64_t sender = 0;  // the sender that owns the producer; 0: none
  };

  explicit ProducerTable(sql::Database& database);

  // Returns nullptr if the producer is unknown. The pointer is valid until Forget() or Trim().
  absl::StatusOr<Producer*> Find(const std::string& producer_id);

  // Returns FAILED_PRECONDITION if a higher epoch is stored.
  static absl::Status CheckEpoch(const Producer& producer, uint64_t epoch);

  // Inserts an unknown producer with committed_seq 0. Returns false if another writer has inserted it in the meantime.
  absl::StatusOr<bool> Add(const ProducerOpening& opening, int64_t sender, int64_t now_unix_us);
  // Stores the opening of a known producer. A producer without an owner becomes the sender's (0: stays without one).
  absl::Status Reopen(Producer& producer, const ProducerOpening& opening, int64_t sender, int64_t now_unix_us);

  // Returns true if the row already has these values, so that nothing needs to be written.
  static bool IsOpen(const Producer& producer, const ProducerOpening& opening) {
    return producer.epoch == opening.epoch && producer.client == opening.client &&
           (producer.sender != 0 || opening.sender.empty());
  }

  // Sets the committed_seq of a producer that Find() has returned. Save() stores those that were set since the last
  // one.
  void Advance(const std::string& producer_id, Producer& producer, uint64_t committed_seq) {
    if (producer.committed_seq == committed_seq) return;
    producer.committed_seq = committed_seq;
    advanced_[producer_id] = committed_seq;
  }
  absl::Status Save();

  // Removes a producer from the cache after its row was deleted.
  void Remove(const std::string& producer_id);

  // Empties the cache if it uses more than kProducerCacheBytes. Called between two transactions; invalidates pointers.
  void Trim();
  // Discards cached state of a transaction that will not be committed.
  void Forget();

 private:
  Producer& Remember(const std::string& producer_id, Producer producer);

  absl::node_hash_map<std::string, Producer> producers_;
  uint64_t bytes_ = 0;                                   // approximate size of producers_
  absl::flat_hash_map<std::string, uint64_t> advanced_;  // committed_seq of those that Save() stores
  sql::Statement find_;
  sql::Statement add_;
  sql::Statement reopen_;
  sql::Statement advance_;
};

}  // namespace telemetry::storage::tables
