#pragma once

#include <cstdint>
#include <string>

#include "absl/container/node_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sql/statement.h"
#include "server/storage/store.h"

namespace telemetry::storage {

// Table producers: each producer's epoch and how far its log is stored. Part of the writer: one thread, inside its
// transaction. A batch moves a producer on in memory; Save writes that down once per transaction.
class ProducerTable {
 public:
  struct Producer {
    uint64_t epoch = 0;
    uint64_t committed_seq = 0;
    std::string client;
    int64_t sender = 0;  // whose it is; 0: nobody's
    bool dirty = false;
  };

  explicit ProducerTable(Database& database);

  // nullptr: not known. The pointer lives until Forget.
  absl::StatusOr<Producer*> Find(const std::string& producer_id);

  // FAILED_PRECONDITION: a higher epoch is known.
  static absl::Status CheckEpoch(const Producer& producer, uint64_t epoch);

  // Makes a producer that is not known, at committed_seq 0. False: another writer has made it meanwhile.
  absl::StatusOr<bool> Add(const ProducerOpening& opening, int64_t sender, int64_t now_unix_us);
  // Writes down who opened a known one. One that is nobody's becomes the sender's (0: stays).
  absl::Status Reopen(Producer& producer, const ProducerOpening& opening, int64_t sender, int64_t now_unix_us);

  // True when the row says this already, so that nothing needs to be written.
  static bool IsOpen(const Producer& producer, const ProducerOpening& opening) {
    return producer.epoch == opening.epoch && producer.client == opening.client &&
           (producer.sender != 0 || opening.sender.empty());
  }

  static void Advance(Producer& producer, uint64_t committed_seq) {
    producer.dirty |= producer.committed_seq != committed_seq;
    producer.committed_seq = committed_seq;
  }
  absl::Status Save();

  // Forgets a producer whose row was removed.
  void Remove(const std::string& producer_id) { producers_.erase(producer_id); }

  // Forgets the producers when they take more than kProducerCacheBytes. Between two transactions: pointers end here.
  void Trim();
  // Forgets what was remembered of the transaction that is not going to be committed.
  void Forget();

 private:
  Producer& Remember(const std::string& producer_id, Producer producer);

  absl::node_hash_map<std::string, Producer> producers_;
  uint64_t bytes_ = 0;  // of producers_, roughly
  Statement find_;
  Statement add_;
  Statement reopen_;
  Statement advance_;
};

}  // namespace telemetry::storage
