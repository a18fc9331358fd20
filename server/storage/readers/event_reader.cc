#include "server/storage/readers/event_reader.h"

#include <limits>

#include "proto/base/status_macros.h"

namespace telemetry::storage::readers {
namespace {

constexpr int64_t kMostEvents = 256;

}  // namespace

EventReader::EventReader(sql::Database& database)
    : sizes_(database, {.text = "SELECT seq, length(text) FROM attempt_events",
                        .key = sql::kInRun,
                        .where = "attempt = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3"}),
      read_(database, {.text = "SELECT seq, time_unix_us, name, text FROM attempt_events",
                       .key = sql::kInRun,
                       .where = "attempt = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq"}) {}

absl::StatusOr<bool> EventReader::ReadPage(const sql::AttemptKey& key, uint64_t after_seq, size_t most_bytes,
                                           google::protobuf::RepeatedPtrField<v1::AttemptEvent>* events) {
  // SQLite's integers end at the largest sequence number, so no event follows.
  if (after_seq >= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return false;
  int64_t last_seq = 0;
  ASSIGN_OR_RETURN(const bool more, FindEnd(key, after_seq, most_bytes, &last_seq));
  if (last_seq == 0) return false;
  read_.Bind(sql::InRun{key.run}, key.attempt, after_seq, last_seq);
  while (true) {
    ASSIGN_OR_RETURN(const bool found, read_.Step());
    if (!found) return more;
    v1::AttemptEvent* event = events->Add();
    event->set_seq(static_cast<uint64_t>(read_.Int(0)));
    if (!read_.IsNull(1)) event->set_time_unix_us(read_.Int(1));
    event->set_name(read_.String(2));
    event->set_text(read_.String(3));
  }
}

// A connection to PostgreSQL holds all rows of a result, so the sizes are read before the texts.
absl::StatusOr<bool> EventReader::FindEnd(const sql::AttemptKey& key, uint64_t after_seq, size_t most_bytes,
                                          int64_t* last_seq) {
  sizes_.Bind(sql::InRun{key.run}, key.attempt, after_seq, kMostEvents + 1);
  size_t bytes = 0;
  for (int64_t events = 0; events < kMostEvents && bytes < most_bytes; ++events) {
    absl::StatusOr<bool> found = sizes_.Step();
    if (!found.ok() || !*found) return found;
    *last_seq = sizes_.Int(0);
    bytes += static_cast<size_t>(sizes_.Int(1));
  }
  absl::StatusOr<bool> more = sizes_.Step();
  sizes_.Reset();
  return more;
}

}  // namespace telemetry::storage::readers
