#include "server/net/connection_table.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <utility>
#include <vector>

namespace telemetry::net {
namespace {

using Room = ConnectionTable::Room;

Network Address(uint32_t number) {
  sockaddr_storage address = {};
  auto& v4 = reinterpret_cast<sockaddr_in&>(address);
  v4.sin_family = AF_INET;
  v4.sin_addr.s_addr = htonl(number);
  return Network::Of(address);
}

// Returns a descriptor with its own inode.
Socket Open() {
  std::pair<int, int> ends;
  socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, &ends.first);
  Socket other(ends.second);
  return Socket(ends.first);
}

TEST(ConnectionTable, CountsInTotalAndForEachNetwork) {
  ConnectionTable table({.in_total = 3, .per_network = 2});
  std::vector<Socket> sockets;
  const auto add = [&](uint32_t address) {
    sockets.push_back(Open());
    table.Add(sockets.back().fd(), {Address(address)}, SteadyNow());
  };
  EXPECT_EQ(table.RoomFor(Address(1)), Room::kYes);
  add(1);
  add(1);
  EXPECT_EQ(table.RoomFor(Address(1)), Room::kNetworkIsFull);
  EXPECT_EQ(table.RoomFor(Address(2)), Room::kYes);
  add(2);
  EXPECT_EQ(table.RoomFor(Address(3)), Room::kAllIsFull);
  table.Remove(sockets[0].fd());
  table.Remove(sockets[0].fd());
  EXPECT_EQ(table.RoomFor(Address(1)), Room::kYes);
  EXPECT_EQ(table.size(), 2);
}

TEST(ConnectionTable, NoticesWhatOthersClosed) {
  ConnectionTable table({.in_total = 2, .per_network = 2});
  Socket first = Open();
  const Socket second = Open();
  table.Add(first.fd(), {Address(1)}, SteadyNow());
  table.Add(second.fd(), {Address(1)}, SteadyNow());
  table.SetTalking(first.fd());
  table.SetTalking(second.fd());
  table.RemoveClosed();
  EXPECT_EQ(table.RoomFor(Address(1)), Room::kNetworkIsFull);
  first.Close();
  table.RemoveClosed();
  EXPECT_EQ(table.size(), 1);
  EXPECT_EQ(table.RoomFor(Address(1)), Room::kYes);
}

TEST(ConnectionTable, NoticesThatANumberIsUsedAgain) {
  ConnectionTable table({});
  Socket first = Open();
  const int number = first.fd();
  table.Add(number, {Address(1)}, SteadyNow());
  table.SetTalking(number);
  const Socket other = Open();
  first.Close();
  ASSERT_EQ(dup2(other.fd(), number), number);
  const Socket again(number);
  table.RemoveClosed();
  EXPECT_EQ(table.size(), 0);

  table.Add(number, {Address(1)}, SteadyNow());
  table.Add(number, {Address(2)}, SteadyNow());
  EXPECT_EQ(table.size(), 1) << "the first connection must have been closed";
  EXPECT_TRUE(table.OldestSilent(Address(2)));
  EXPECT_FALSE(table.OldestSilent(Address(1)));
}

TEST(ConnectionTable, KnowsWhoHasBeenSilentLongest) {
  ConnectionTable table({});
  const SteadyTime begin = SteadyNow();
  std::vector<Socket> sockets;
  for (uint32_t i = 0; i < 3; ++i) {
    sockets.push_back(Open());
    table.Add(sockets.back().fd(), {Address(i % 2)}, begin + std::chrono::seconds(i));
  }
  EXPECT_EQ(table.OldestSilent(), sockets[0].fd());
  EXPECT_EQ(table.OldestSilent(Address(1)), sockets[1].fd());
  EXPECT_FALSE(table.OldestSilent(Address(7)));
  EXPECT_FALSE(table.OldestSilent(begin - std::chrono::seconds(1)));
  EXPECT_EQ(table.OldestSilent(begin), sockets[0].fd());
  table.SetTalking(sockets[0].fd());
  EXPECT_FALSE(table.IsSilent(sockets[0].fd()));
  EXPECT_EQ(table.OldestSilent(), sockets[1].fd());
  EXPECT_EQ(table.OldestSilent(Address(0)), sockets[2].fd());
  EXPECT_FALSE(table.OldestSilent(begin));
  table.Remove(sockets[1].fd());
  EXPECT_EQ(table.OldestSilent(), sockets[2].fd());
  EXPECT_EQ(table.size(), 2);
}

}  // namespace
}  // namespace telemetry::net
