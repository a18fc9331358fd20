#include "server/net/receive_meter.h"

#include <algorithm>
#include <cmath>

#include "absl/algorithm/container.h"

namespace telemetry::net {
namespace {

// The allowance per message: more than its HTTP/2 frames, TLS and the client's replies to our frames add.
constexpr uint64_t kFramingBytes = 64;
constexpr uint64_t kFramingPart = 64;
// The allowance for bytes that a client sends without messages, such as pings: one byte per this time.
constexpr absl::Duration kTimeOfByte = absl::Milliseconds(15);
constexpr absl::Duration kRecent = absl::Milliseconds(100);
// Covers the bytes that gRPC reads ahead of the messages of a working client.
constexpr uint64_t kNextToNothing = 256 << 10;
// More than a client sends before the meter knows its first call: gRPC's window of 256 KiB, and headers.
constexpr double kBusy = 320 << 10;

uint64_t Less(uint64_t bytes, uint64_t by) { return bytes - std::min(bytes, by); }

}  // namespace

void ReceiveMeter::BeginCall(const Peer& peer) {
  const absl::MutexLock lock(&mutex_);
  ++connections_[peer].calls;
}

void ReceiveMeter::EndCall(const Peer& peer) {
  const absl::MutexLock lock(&mutex_);
  const auto found = connections_.find(peer);
  --found->second.calls;
  if (found->second.calls == 0 && !found->second.is_open) connections_.erase(found);
}

void ReceiveMeter::AddMessage(const Peer& peer, uint64_t bytes) {
  const absl::MutexLock lock(&mutex_);
  Connection& connection = connections_[peer];
  connection.allowed_bytes += bytes + kFramingBytes + bytes / kFramingPart;
  connection.has_message = true;
}

std::vector<ReceiveMeter::Excess> ReceiveMeter::Update(const std::vector<Reading>& readings, absl::Duration elapsed,
                                                       bool memory_is_scarce) {
  const absl::MutexLock lock(&mutex_);
  const auto unasked = static_cast<uint64_t>(absl::IDivDuration(unused_time_ + elapsed, kTimeOfByte, &unused_time_));
  const double still_recent = std::exp2(-absl::FDivDuration(elapsed, kRecent));
  uint64_t unfinished = 0;
  for (auto& [peer, connection] : connections_) connection.is_open = false;
  for (const Reading& reading : readings) {
    Connection& connection = connections_[reading.peer];
    connection.is_open = true;
    const uint64_t more = Less(reading.read_bytes, connection.read_bytes);
    const uint64_t allowed = connection.allowed_bytes + unasked;
    connection.held_bytes = Less(connection.held_bytes + more, allowed);
    connection.recent_bytes = connection.recent_bytes * still_recent + static_cast<double>(Less(more, allowed));
    unfinished += Less(more, allowed);
    if (connection.calls == 0) connection.held_bytes = 0;
    connection.read_bytes = reading.read_bytes;
    connection.allowed_bytes = 0;
  }
  absl::erase_if(connections_, [](const auto& entry) { return !entry.second.is_open && entry.second.calls == 0; });
  bytes_per_s_ = static_cast<double>(unfinished) / std::max(absl::ToDoubleSeconds(elapsed), 1e-6);
  std::vector<Excess> excess = FindExcess(memory_is_scarce);
  held_bytes_ = 0;
  for (const auto& [peer, connection] : connections_) held_bytes_ += connection.held_bytes;
  return excess;
}

absl::Duration ReceiveMeter::TimeToLimit() const {
  const absl::MutexLock lock(&mutex_);
  return absl::Seconds(static_cast<double>(Less(limit_bytes_, held_bytes_)) / std::max(bytes_per_s_, 1.0));
}

bool ReceiveMeter::IsBusy(const Connection& connection) const {
  return connection.is_open && connection.recent_bytes > kBusy &&
         (connection.calls == 0 || connection.held_bytes > connection.calls * message_bytes_);
}

std::vector<ReceiveMeter::Excess> ReceiveMeter::FindBusiest() const {
  const absl::MutexLock lock(&mutex_);
  const auto busiest = absl::c_max_element(connections_, [this](const auto& a, const auto& b) {
    return (IsBusy(a.second) ? a.second.recent_bytes : 0) < (IsBusy(b.second) ? b.second.recent_bytes : 0);
  });
  std::vector<Excess> found;
  if (busiest == connections_.end() || !IsBusy(busiest->second)) return found;
  for (const auto& [peer, connection] : connections_) {
    if (!connection.is_open || peer.network != busiest->first.network) continue;
    if (!IsBusy(connection) && connection.has_message) continue;
    found.push_back({peer, static_cast<uint64_t>(connection.recent_bytes)});
  }
  return found;
}

std::vector<ReceiveMeter::Excess> ReceiveMeter::FindExcess(bool memory_is_scarce) {
  struct Held {
    uint64_t bytes = 0;
    std::vector<Excess> connections;
  };
  absl::flat_hash_map<Network, Held> networks;
  uint64_t total = 0;
  for (const auto& [peer, connection] : connections_) {
    const auto recent = static_cast<uint64_t>(connection.recent_bytes);
    const uint64_t bytes = memory_is_scarce ? std::max(connection.held_bytes, recent) : connection.held_bytes;
    if (!connection.is_open || bytes == 0) continue;
    total += bytes;
    Held& held = networks[peer.network];
    held.bytes += bytes;
    held.connections.push_back({peer, bytes});
  }
  const uint64_t half = total / 2;
  const auto is_enough = [&](const Held& most) {
    if (memory_is_scarce) return total <= half || most.bytes <= kNextToNothing;
    return total <= limit_bytes_ && most.bytes <= limit_bytes_ / 4 * 3;
  };
  std::vector<Excess> excess;
  const auto by_bytes = [](const Excess& a, const Excess& b) { return a.bytes < b.bytes; };
  while (total > 0) {
    Held& most = std::max_element(networks.begin(), networks.end(), [](const auto& a, const auto& b) {
                   return a.second.bytes < b.second.bytes;
                 })->second;
    if (is_enough(most)) break;
    const auto at = std::max_element(most.connections.begin(), most.connections.end(), by_bytes);
    const Excess largest = *at;
    most.connections.erase(at);
    most.bytes -= largest.bytes;
    total -= largest.bytes;
    Connection& ended = connections_.at(largest.peer);
    ended.held_bytes = 0;
    ended.recent_bytes = 0;
    excess.push_back(largest);
  }
  return excess;
}

}  // namespace telemetry::net
