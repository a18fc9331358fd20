#include "server/collector/connection_limits.h"

#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/net/file_limit.h"
#include "tests/http2/frames.h"
#include "tests/http2/loopback.h"
#include "tests/server/collector/collector_story.h"

namespace telemetry::collector {
namespace {

using ::testing::HasSubstr;

TEST(ConnectionLimits, HalfMayComeFromOneAddress) {
  EXPECT_EQ(ComputeConnectionLimits({.max_connections = 100}).per_network, 50);
  EXPECT_EQ(ComputeConnectionLimits({.max_connections = 1}).per_network, 1);
  EXPECT_EQ(ComputeConnectionLimits({.max_connections = 100, .max_connections_per_address = 80}).per_network, 80);
}

TEST(ConnectionLimits, LeaveDescriptorsToTheDataset) {
  const uint64_t files = net::kReservedFiles + 100;
  absl::StatusOr<call::Limits> limits = FitConnections({.max_connections = 4096}, files);
  ASSERT_TRUE(limits.ok());
  EXPECT_EQ(limits->max_connections, 100);
  EXPECT_EQ(limits->max_connections_per_address, 50);
  limits = FitConnections({.max_connections = 10, .max_connections_per_address = 10}, files);
  EXPECT_EQ(limits->max_connections, 10);
  EXPECT_EQ(limits->max_connections_per_address, 10);
  limits = FitConnections({}, net::kReservedFiles);
  EXPECT_TRUE(absl::IsFailedPrecondition(limits.status()));
  EXPECT_THAT(std::string(limits.status().message()), HasSubstr("LimitNOFILE"));
}

// A connection to the port of a collector; ignores the content of received bytes.
class Peer {
 public:
  explicit Peer(CollectorServer& server) : fd_(http2::ConnectToLoopback(server.port())) {}
  ~Peer() { close(fd_); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void Send(std::string_view bytes) const { send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  void SendPreface() const { Send(std::string(http2::kPreface) + http2::FrameBytes({.type = http2::kSettings})); }
  // Blocks until the collector has sent something or closed the connection, for a minute at most.
  bool AwaitBytes() const { return Receive().value_or(0) > 0; }
  bool AwaitEnd() const {
    std::optional<ssize_t> size = Receive();
    while (size.has_value() && *size > 0) size = Receive();
    return size.has_value() && *size <= 0;
  }

 private:
  // Returns the result of recv, or nullopt if nothing arrived in time.
  std::optional<ssize_t> Receive() const {
    pollfd poll_fd = {.fd = fd_, .events = POLLIN};
    if (poll(&poll_fd, 1, 60'000) != 1) return std::nullopt;
    std::string bytes(4096, '\0');
    return recv(fd_, bytes.data(), bytes.size(), 0);
  }

  const int fd_;
};

ServerOptions WithPort(const call::Limits& limits) { return {.listen = "127.0.0.1:0", .limits = limits}; }

TEST(ConnectionLimits, WhoSaysNothingIsClosed) {
  CollectorStory story(WithPort({.handshake_timeout = absl::Milliseconds(50)}));
  const Peer peer(story.server());
  EXPECT_TRUE(peer.AwaitEnd());
}

TEST(ConnectionLimits, WhoDoesNotFinishTheHandshakeIsClosed) {
  CollectorStory story(WithPort({.handshake_timeout = absl::Milliseconds(50)}));
  const Peer peer(story.server());
  peer.Send("PRI * HT");
  EXPECT_TRUE(peer.AwaitEnd());
}

TEST(ConnectionLimits, AConnectionTooManyIsClosedAndOthersStay) {
  CollectorStory story(WithPort({.max_connections = 2, .max_connections_per_address = 1}));
  const auto channel =
      grpc::CreateChannel(absl::StrCat("127.0.0.1:", story.server().port()), grpc::InsecureChannelCredentials());
  TestStream stream(channel);
  ASSERT_TRUE(stream.Open('p'));
  const Peer second(story.server());
  second.SendPreface();
  EXPECT_FALSE(second.AwaitBytes());
  stream.Send(MakeBatch(1, {storage::RunRecord('a')}));
  EXPECT_TRUE(stream.AwaitAck(1));
}

TEST(ConnectionLimits, AConnectionThatHasEndedMakesRoom) {
  CollectorStory story(WithPort({.max_connections = 1}));
  {
    const Peer first(story.server());
    first.SendPreface();
    ASSERT_TRUE(first.AwaitBytes());
  }
  // gRPC closes the socket, and the acceptor notices it a little later.
  bool is_served = false;
  for (int attempt = 0; attempt < 10'000 && !is_served; ++attempt) {
    const Peer next(story.server());
    next.SendPreface();
    is_served = next.AwaitBytes();
  }
  EXPECT_TRUE(is_served);
}

}  // namespace
}  // namespace telemetry::collector
