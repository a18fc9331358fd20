#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace telemetry::storage::tables {

// Return the heap memory that a key or a value holds, in addition to the object itself.
template <typename T>
requires std::is_trivially_copyable_v<T> uint64_t HeapBytes(const T& /*value*/) { return 0; }
inline uint64_t HeapBytes(const std::string& text) {
  // A short text is stored inside the object. For any other text the allocator adds a header.
  return text.capacity() <= std::string().capacity() ? 0 : text.capacity() + 2 * sizeof(void*);
}
template <typename First, typename Second>
uint64_t HeapBytes(const std::pair<First, Second>& pair) {
  return HeapBytes(pair.first) + HeapBytes(pair.second);
}

// A flat_hash_map that uses at most `budget_bytes` for keys, values and the table. If a new entry does not fit, all
// others are dropped first; an entry that is larger than the budget is not stored. Entries are never changed in place.
// Not thread-safe.
template <typename Key, typename Value>
class ByteBoundedCache {
  using Map = absl::flat_hash_map<Key, Value>;

 public:
  using const_iterator = typename Map::const_iterator;

  explicit ByteBoundedCache(uint64_t budget_bytes) : budget_bytes_(budget_bytes) {}

  const_iterator find(const Key& key) const { return map_.find(key); }
  const_iterator end() const { return map_.end(); }
  bool contains(const Key& key) const { return map_.contains(key); }
  size_t size() const { return map_.size(); }
  uint64_t bytes() const { return bytes_; }

  // Adds an entry. Does nothing if the key exists.
  void emplace(Key key, Value value) {
    if (map_.contains(key)) return;
    const uint64_t bytes = EntryBytes(key, value);
    if (bytes > budget_bytes_) return;
    if (bytes_ + bytes > budget_bytes_) clear();
    bytes_ += bytes;
    map_.emplace(std::move(key), std::move(value));
  }

  void erase(const Key& key) {
    const auto it = map_.find(key);
    if (it == map_.end()) return;
    bytes_ -= EntryBytes(it->first, it->second);
    map_.erase(it);
  }

  void clear() {
    map_ = Map();
    bytes_ = 0;
  }

 private:
  static uint64_t EntryBytes(const Key& key, const Value& value) {
    // The table stores one control byte per slot and is at least 7/16 full. While it grows, a second table of half the
    // size exists.
    constexpr uint64_t kPlaceBytes = (sizeof(typename Map::value_type) + 1) * 24 / 7;
    return kPlaceBytes + HeapBytes(key) + HeapBytes(value);
  }

  const uint64_t budget_bytes_;
  uint64_t bytes_ = 0;
  Map map_;
};

}  // namespace telemetry::storage::tables
