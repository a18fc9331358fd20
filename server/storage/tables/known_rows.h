#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace telemetry::storage::tables {

// The rows of one table that a transaction must not insert: rows that were stored before it, and rows that it has
// inserted itself. For a database that stores a transaction's rows all at once (BulkInsert) and fails if one of them
// exists. Off at first. Part of the writer: used by one thread.
class KnownRows {
 public:
  enum class Is {
    kNew,    // not stored
    kSame,   // stored, with the same contents
    kOther,  // stored, with other or unknown contents
  };

  // Begins a transaction. Off: no row is remembered.
  void Begin(bool is_on) {
    rows_.clear();
    is_on_ = is_on;
  }
  bool is_on() const { return is_on_; }

  // Adds a stored row whose contents are unknown.
  void Remember(int64_t attempt, uint64_t seq) { rows_.try_emplace({attempt, seq}, Digest{}); }
  // Compares the row with the known ones, and adds it if it is new. Equal bytes mean equal contents.
  Is Add(int64_t attempt, uint64_t seq, std::string_view contents);

 private:
  using Digest = std::array<uint64_t, 2>;  // the first bytes of a SHA-256; zeroes: unknown

  bool is_on_ = false;
  absl::flat_hash_map<std::pair<int64_t, uint64_t>, Digest> rows_;
};

}  // namespace telemetry::storage::tables
