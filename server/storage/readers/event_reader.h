#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "server/storage/sql/attempt_key.h"
#include "server/storage/sql/statement.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::storage::readers {

// Reads the events of attempts (table attempt_events). Part of a reader: used by one thread, inside the caller's
// transaction.
class EventReader {
 public:
  explicit EventReader(sql::Database& database);

  // Reads the events above after_seq, up to the first one that reaches `most_bytes`. Returns whether more events
  // follow. Leaves attempt_id empty.
  absl::StatusOr<bool> ReadPage(const sql::AttemptKey& key, uint64_t after_seq, size_t most_bytes,
                                google::protobuf::RepeatedPtrField<v1::AttemptEvent>* events);

 private:
  // Stores the seq of the page's last event, and leaves 0 if there is none. Returns whether more events follow.
  absl::StatusOr<bool> FindEnd(const sql::AttemptKey& key, uint64_t after_seq, size_t most_bytes, int64_t* last_seq);

  sql::Statement sizes_;
  sql::Statement read_;
};

}  // namespace telemetry::storage::readers
