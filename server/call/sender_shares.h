#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"

namespace telemetry::call {

// The amounts of one resource that senders hold, with a limit on the total and a limit for each sender. A sender that
// holds nothing may take an amount above its own limit; while no sender holds anything, an amount above both limits.
// Not thread-safe.
class SenderShares {
 public:
  // The limit of a sender is half of the total.
  explicit SenderShares(uint64_t total_limit) : SenderShares(total_limit, total_limit / 2) {}
  SenderShares(uint64_t total_limit, uint64_t sender_limit)
      : total_limit_(total_limit), sender_limit_(std::max<uint64_t>(sender_limit, 1)) {}

  enum class Room { kYes, kSenderIsFull, kAllIsFull };
  Room RoomFor(const std::string& sender, uint64_t amount) const {
    const auto of = held_.find(sender);
    if (of != held_.end() && of->second + amount > sender_limit_) return Room::kSenderIsFull;
    return total_ == 0 || total_ + amount <= total_limit_ ? Room::kYes : Room::kAllIsFull;
  }

  void Take(const std::string& sender, uint64_t amount) {
    held_[sender] += amount;
    total_ += amount;
  }
  // Takes the amount if there is room; otherwise returns false and changes nothing.
  bool TryTake(const std::string& sender, uint64_t amount) {
    if (RoomFor(sender, amount) != Room::kYes) return false;
    Take(sender, amount);
    return true;
  }
  void Release(const std::string& sender, uint64_t amount) {
    total_ -= amount;
    const auto of = held_.find(sender);
    if ((of->second -= amount) == 0) held_.erase(of);
  }

  uint64_t HeldBy(const std::string& sender) const {
    const auto of = held_.find(sender);
    return of == held_.end() ? 0 : of->second;
  }
  uint64_t total() const { return total_; }
  uint64_t total_limit() const { return total_limit_; }
  uint64_t sender_limit() const { return sender_limit_; }

 private:
  const uint64_t total_limit_;
  const uint64_t sender_limit_;
  uint64_t total_ = 0;
  absl::flat_hash_map<std::string, uint64_t> held_;
};

}  // namespace telemetry::call
