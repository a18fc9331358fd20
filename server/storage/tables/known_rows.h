#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace telemetry::storage {

// The rows of one table that a transaction must not insert: those that were stored before it, and those that it has
// inserted itself. For a database that takes a transaction's rows all at once (gathered.h) and fails where one of them
// is there already. Off at first. Part of the writer: one thread.
class KnownRows {
 public:
  enum class Is {
    kNew,    // not there
    kSame,   // there, with the same contents
    kOther,  // there, with other contents, or with contents that nobody has told
  };

  // A transaction begins. Off: nothing is remembered.
  void Begin(bool is_on) {
    rows_.clear();
    is_on_ = is_on;
  }
  bool is_on() const { return is_on_; }

  // A stored row of which the contents are not told.
  void Remember(int64_t attempt, uint64_t seq) { rows_.try_emplace({attempt, seq}, Digest{}); }
  // Returns the row's relation to the known ones. A new one is known from now on. Equal bytes mean equal contents.
  Is Add(int64_t attempt, uint64_t seq, std::string_view contents);

 private:
  using Digest = std::array<uint64_t, 2>;  // of SHA-256; zeroes: not told

  bool is_on_ = false;
  absl::flat_hash_map<std::pair<int64_t, uint64_t>, Digest> rows_;
};

}  // namespace telemetry::storage
