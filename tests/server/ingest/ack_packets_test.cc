#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/ingest/ingest_stream.h"
#include "tests/http2/frames.h"
#include "tests/http2/loopback.h"
#include "tests/server/collector/collector_story.h"

namespace telemetry::collector {
namespace {

// A producer that sends a batch after each Ack, and looks at the packets of the collector.
class PacketPeer {
 public:
  explicit PacketPeer(CollectorServer& server) : fd_(http2::ConnectToLoopback(server.port())) {
    std::string bytes(http2::kPreface);
    http2::AppendFrame({.type = http2::kSettings}, &bytes);
    std::string headers = http2::Hpack(http2::CallHeaders(ingest::IngestStream::kMethod));
    http2::AppendFrame({.type = http2::kHeaders, .flags = http2::kEndHeaders, .stream = 1, .payload = headers}, &bytes);
    Send(bytes);
    v1::StreamRequest open;
    open.mutable_open()->set_producer_id(ProducerId('p'));
    open.mutable_open()->set_epoch(1);
    SendMessage(open);
  }
  ~PacketPeer() { close(fd_); }
  PacketPeer(const PacketPeer&) = delete;
  PacketPeer& operator=(const PacketPeer&) = delete;

  void SendMessage(const v1::StreamRequest& message) const {
    Send(http2::FrameBytes(
        {.type = http2::kData, .stream = 1, .payload = http2::GrpcMessage(message.SerializeAsString())}));
  }

  // Receives packets until one has a message. Returns their number, or 0 if the collector closed the connection or sent
  // nothing for a minute.
  int PacketsToMessage() {
    for (int packets = 1;; ++packets) {
      const std::set<uint8_t> types = Receive();
      if (types.empty()) return 0;
      if (types.contains(http2::kData)) return packets;
    }
  }

 private:
  void Send(std::string_view bytes) const { send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }

  // Returns the types of the frames that end in the next packet.
  std::set<uint8_t> Receive() {
    std::set<uint8_t> types;
    pollfd poll_fd = {.fd = fd_, .events = POLLIN};
    if (poll(&poll_fd, 1, 60'000) != 1) return types;
    std::string bytes(4096, '\0');
    const ssize_t size = recv(fd_, bytes.data(), bytes.size(), 0);
    if (size <= 0) return types;
    received_.append(bytes, 0, static_cast<size_t>(size));
    constexpr size_t kFrameHead = 9;
    while (received_.size() >= kFrameHead) {
      const auto byte = [this](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(received_[i])); };
      const size_t length = byte(0) << 16 | byte(1) << 8 | byte(2);
      if (received_.size() < kFrameHead + length) break;
      types.insert(static_cast<uint8_t>(byte(3)));
      received_.erase(0, kFrameHead + length);
    }
    return types;
  }

  const int fd_;
  std::string received_;
};

// Longer than the time after which a message counts as sent after the last Ack. The collector reads on early if
// messages follow each other faster.
void WaitUntilLate() {
  const absl::Time late = absl::Now() + absl::Milliseconds(5);
  while (absl::Now() < late) std::this_thread::yield();
}

// gRPC tells the client that the collector reads on, which a client of small batches needs not know before the Ack.
TEST(AckPackets, TheAckOfASmallBatchIsTheOnlyPacket) {
  CollectorStory story(ServerOptions{.listen = "127.0.0.1:0"});
  PacketPeer peer(story.server());
  ASSERT_GT(peer.PacketsToMessage(), 0);
  int packets = 0;
  constexpr int kBatches = 20;
  for (uint64_t seq = 1; seq <= kBatches; ++seq) {
    WaitUntilLate();
    v1::StreamRequest request;
    *request.mutable_batch() = MakeBatch(seq, {storage::RunRecord('a')});
    peer.SendMessage(request);
    const int more = peer.PacketsToMessage();
    ASSERT_GT(more, 0);
    packets += more;
  }
  // The first batches may meet SETTINGS and PING.
  EXPECT_LE(packets, kBatches + 4);
}

// Without a socket, each write of the collector waits for a read of the client.
TEST(AckPackets, AClientMayReadItsAcksAtTheEnd) {
  CollectorStory story(ServerOptions{.listen = "127.0.0.1:0"});
  const std::string address = absl::StrCat("127.0.0.1:", story.server().port());
  for (const auto& channel : {story.channel(), grpc::CreateChannel(address, grpc::InsecureChannelCredentials())}) {
    TestStream stream(channel);
    ASSERT_TRUE(stream.Open('p'));
    constexpr uint64_t kBatches = 20;
    for (uint64_t seq = 1; seq <= kBatches; ++seq) {
      WaitUntilLate();
      stream.Send(MakeBatch(seq, {storage::RunRecord('a')}));
    }
    EXPECT_TRUE(stream.AwaitAck(kBatches));
  }
}

}  // namespace
}  // namespace telemetry::collector
