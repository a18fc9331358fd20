#include "server/net/connection_table.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

namespace telemetry::net {

ConnectionTable::Room ConnectionTable::RoomFor(const Network& network) const {
  const auto members = networks_.find(network);
  if (members != networks_.end() && members->second.connections >= limits_.per_network) return Room::kNetworkIsFull;
  return connections_.size() >= limits_.in_total ? Room::kAllIsFull : Room::kYes;
}

void ConnectionTable::Add(int fd, const Peer& peer, SteadyTime now) {
  Remove(fd);
  const uint64_t number = ++last_number_;
  connections_.try_emplace(
      fd, Connection{.peer = peer, .file = ReadFileId(fd).value_or(FileId()), .since = now, .number = number});
  Members& members = networks_[peer.network];
  ++members.connections;
  members.silent.emplace(number, fd);
  silent_.emplace(number, fd);
}

void ConnectionTable::SetTalking(int fd) {
  const auto found = connections_.find(fd);
  if (found == connections_.end()) return;
  silent_.erase(found->second.number);
  networks_[found->second.peer.network].silent.erase(found->second.number);
}

void ConnectionTable::Remove(int fd) {
  const auto found = connections_.find(fd);
  if (found == connections_.end()) return;
  Forget(found->second);
  connections_.erase(found);
}

void ConnectionTable::Forget(const Connection& connection) {
  silent_.erase(connection.number);
  const auto members = networks_.find(connection.peer.network);
  members->second.silent.erase(connection.number);
  if (--members->second.connections == 0) networks_.erase(members);
}

bool ConnectionTable::IsSilent(int fd) const {
  const auto found = connections_.find(fd);
  return found != connections_.end() && silent_.contains(found->second.number);
}

std::optional<Socket> ConnectionTable::Share(const Peer& peer) const {
  for (const auto& [fd, connection] : connections_) {
    if (connection.peer != peer) continue;
    Socket socket(fcntl(fd, F_DUPFD_CLOEXEC, 0));
    if (socket.is_open() && ReadFileId(socket.fd()) == connection.file) return socket;
  }
  return std::nullopt;
}

bool ConnectionTable::CountRead(int fd, Connection& connection) {
  const std::optional<uint64_t> received = CountReceivedBytes(fd);
  if (!received) return false;
  // Usual, because most connections are idle, and cheap: everything that has arrived had been read.
  if (*received == connection.read_bytes) return true;
  const std::optional<uint64_t> unread = CountUnreadBytes(fd);
  if (!unread || ReadFileId(fd) != connection.file) return false;
  connection.read_bytes = *received - std::min(*received, *unread);
  return true;
}

std::vector<ReceiveMeter::Reading> ConnectionTable::ReadMeters() {
  std::vector<ReceiveMeter::Reading> readings;
  readings.reserve(connections_.size());
  for (auto& [fd, connection] : connections_) {
    if (silent_.contains(connection.number) || !CountRead(fd, connection)) continue;
    readings.push_back({connection.peer, connection.read_bytes});
  }
  return readings;
}

void ConnectionTable::RemoveClosed() {
  for (auto it = connections_.begin(); it != connections_.end();) {
    const auto connection = it++;
    if (ReadFileId(connection->first) == connection->second.file) continue;
    Forget(connection->second);
    connections_.erase(connection);
  }
}

std::optional<int> ConnectionTable::OldestSilent() const {
  if (silent_.empty()) return std::nullopt;
  return silent_.begin()->second;
}

std::optional<int> ConnectionTable::OldestSilent(const Network& network) const {
  const auto members = networks_.find(network);
  if (members == networks_.end() || members->second.silent.empty()) return std::nullopt;
  return members->second.silent.begin()->second;
}

std::optional<int> ConnectionTable::OldestSilent(SteadyTime time) const {
  const std::optional<int> fd = OldestSilent();
  if (!fd || connections_.at(*fd).since > time) return std::nullopt;
  return fd;
}

}  // namespace telemetry::net
