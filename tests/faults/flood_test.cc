// Floods of more connections than the collector may open files: established streams go on, new clients are served.

#include <fcntl.h>
#include <grpcpp/create_channel.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "proto/clock/steady.h"
#include "tests/faults/hostile_fixture.h"
#include "tests/faults/raw_http2.h"

namespace telemetry::faults {
namespace {

// Connections that stay open until it is destroyed.
class Flood {
 public:
  // `host`: the last number of the address 127.0.0.x that they come from; `words`: sent on each.
  Flood(int port, uint32_t host, std::string words) : port_(port), host_(host), words_(std::move(words)) {}
  ~Flood() {
    for (const int fd : fds_) close(fd);
  }
  Flood(const Flood&) = delete;
  Flood& operator=(const Flood&) = delete;

  void Connect(int count) {
    for (int i = 0; i < count; ++i) ConnectOnce();
  }

 private:
  void ConnectOnce() {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_GE(fd, 0) << "this process may not open so many files";
    fds_.push_back(fd);
    sockaddr_in from = {.sin_family = AF_INET};
    from.sin_addr.s_addr = htonl(0x7f000000 + host_);
    sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(static_cast<uint16_t>(port_))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
    bind(fd, reinterpret_cast<sockaddr*>(&from), sizeof(from));
    // Nobody waits here for a collector that does not answer.
    fcntl(fd, F_SETFL, O_NONBLOCK);
    connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to));
    send(fd, words_.data(), words_.size(), MSG_NOSIGNAL);
  }

  const int port_;
  const uint32_t host_;
  const std::string words_;
  std::vector<int> fds_;
};

size_t OpenFiles(pid_t pid) {
  const std::filesystem::directory_iterator files(absl::StrCat("/proc/", pid, "/fd"));
  return static_cast<size_t>(std::distance(begin(files), end(files)));
}

class FloodTest : public HostileTest {
 protected:
  uint64_t MaxFiles() const { return FullSize() ? 10'000 : 400; }
  int Connections() const { return FullSize() ? 12'000 : 800; }

  // Calls from a connection of its own.
  testing::AssertionResult IsServed(const std::string& when) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto stub = v1::IngestService::NewStub(
        grpc::CreateCustomChannel(collector_->address(), grpc::InsecureChannelCredentials(), arguments));
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(20)));
    v1::IngestRequest request;
    request.mutable_open()->set_producer_id(ProducerId(++clients_));
    *request.mutable_batch() = MakeBatch(1, AttemptRecord(20), 1);
    v1::IngestResponse response;
    const SteadyTime begin = SteadyNow();
    const grpc::Status status = stub->Ingest(&context, request, &response);
    std::cout << when << ": served after " << ElapsedSince(begin) << ", " << OpenFiles(collector_->pid()) << " files, "
              << bench::ResidentMib(collector_->pid()) << " MiB" << std::endl;
    if (status.ok()) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "a new client is not served " << when << ": " << status.error_message();
  }

  // A good client's stream goes on while the flood comes, while it stays and afterwards; new clients are served.
  void PlayFlood(uint32_t host, const std::string& words) {
    Start({}, MaxFiles());
    auto client = std::make_unique<GoodClient>(collector_->address());
    GoodClient& good = *client;
    const int batches = FullSize() ? 300 : 50;
    good.P99Ms(20);
    const double before_ms = good.P99Ms(batches);
    {
      Flood flood(port(), host, words);
      std::atomic<bool> is_over = false;
      std::thread connects([&] {
        constexpr int kParts = 10;
        for (int i = 0; i < kParts; ++i) {
          flood.Connect(Connections() / kParts);
          if (FullSize()) absl::SleepFor(absl::Milliseconds(100));
        }
        is_over = true;
      });
      const double during_ms = good.P99Ms(batches);
      std::cout << "p99 " << before_ms << " ms before, " << during_ms << " ms during the flood, "
                << (is_over ? "which was over" : "which went on") << std::endl;
      connects.join();
      EXPECT_TRUE(IsServed("while the flood stays"));
      std::cout << "p99 " << good.P99Ms(batches) << " ms while it stays" << std::endl;
    }
    EXPECT_TRUE(IsServed("after the flood"));
    EXPECT_TRUE(good.Send()) << "an established stream ended";
    const uint64_t acknowledged = good.acknowledged();
    client.reset();
    EXPECT_GE(GoodClient(collector_->address()).acknowledged(), acknowledged) << "is stored";
    EXPECT_LT(bench::PeakMib(collector_->pid()), kMemoryMib);
    EXPECT_EQ(collector_->Stop(), 0);
  }

 private:
  int clients_ = 0;
};

TEST_F(FloodTest, OfConnectionsThatSayNothing) { PlayFlood(1, ""); }

TEST_F(FloodTest, OfConnectionsThatTalkFromAnotherAddress) { PlayFlood(2, RawConnection::Preface()); }

}  // namespace
}  // namespace telemetry::faults
