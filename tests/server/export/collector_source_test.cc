#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stop_token>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "server/export/dataset_source.h"

namespace telemetry::exporter {
namespace {

// A collector that accepts connections and never sends a byte.
class SilentCollector {
 public:
  SilentCollector() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(fd_, 1), 0);
    EXPECT_EQ(getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~SilentCollector() {
    close(connection_);
    close(fd_);
  }

  std::string address() const { return absl::StrCat("127.0.0.1:", port_); }
  void AwaitConnection() { connection_ = accept(fd_, nullptr, nullptr); }

 private:
  const int fd_;
  int port_ = 0;
  int connection_ = -1;
};

TEST(CollectorSource, AStopEndsTheWaitForASilentCollector) {
  SilentCollector collector;
  std::stop_source stop;
  std::thread stopper([&] {
    collector.AwaitConnection();
    stop.request_stop();
  });
  const DatasetSource source = FromCollector(collector.address(), {}, stop.get_token());
  const absl::Status status = source({}, [](const v1::ExportItem&) { return absl::OkStatus(); });
  stopper.join();
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
}

}  // namespace
}  // namespace telemetry::exporter
