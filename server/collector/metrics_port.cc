#include "server/collector/metrics_port.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady.h"
#include "proto/log/log.h"
#include "server/access/tls_connection.h"
#include "server/collector/http_answer.h"

namespace telemetry::collector {
namespace {

using access::IoStep;

// OpenSSL writes to sockets without MSG_NOSIGNAL; a disconnected peer must not end the process.
void BlockSigpipe() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

IoStep ToIoStep(ssize_t result) {
  if (result > 0) return {.kind = IoStep::kDone, .bytes = static_cast<size_t>(result)};
  const bool again = result < 0 && (errno == EAGAIN || errno == EINTR);
  return {.kind = again ? IoStep::kWantsRead : IoStep::kClosed};
}

}  // namespace

// A request and its response. The destructor closes the connection.
class MetricsPort::Conversation {
 public:
  Conversation(net::Socket socket, std::optional<access::TlsConnection> tls, SteadyTime deadline)
      : socket_(std::move(socket)), tls_(std::move(tls)), deadline_(deadline) {}

  int fd() const { return socket_.fd(); }
  short wants() const { return wants_; }
  SteadyTime deadline() const { return deadline_; }

  // Continues as far as possible without blocking. Returns false if the conversation is over.
  bool GoOn(const std::function<std::string(std::string_view head)>& answer) {
    if (out_.empty() && !ReadHead(answer)) return false;
    return out_.empty() || WriteAnswer();
  }

 private:
  bool ReadHead(const std::function<std::string(std::string_view head)>& answer) {
    std::array<char, 2048> bytes;
    while (true) {
      const IoStep step = tls_ ? tls_->Read(bytes.data(), bytes.size())
                               : ToIoStep(recv(fd(), bytes.data(), bytes.size(), MSG_DONTWAIT));
      if (step.kind != IoStep::kDone) return Wait(step);
      in_.append(bytes.data(), step.bytes);
      if (IsWholeHttpHead(in_)) {
        out_ = answer(in_);
        return true;
      }
      if (in_.size() <= kMaxHttpHeadBytes) continue;
      out_ = AnswerTooLongHttpHead();
      return true;
    }
  }

  bool WriteAnswer() {
    while (written_ < out_.size()) {
      const char* from = out_.data() + written_;
      const size_t size = out_.size() - written_;
      IoStep step = tls_ ? tls_->Write(from, size) : ToIoStep(send(fd(), from, size, MSG_DONTWAIT | MSG_NOSIGNAL));
      if (!tls_ && step.kind == IoStep::kWantsRead) step.kind = IoStep::kWantsWrite;
      if (step.kind != IoStep::kDone) return Wait(step);
      written_ += step.bytes;
    }
    if (tls_) tls_->Shutdown();
    shutdown(fd(), SHUT_WR);
    return false;
  }

  bool Wait(const IoStep& step) {
    wants_ = step.kind == IoStep::kWantsWrite ? POLLOUT : POLLIN;
    return step.kind != IoStep::kClosed;
  }

  net::Socket socket_;
  std::optional<access::TlsConnection> tls_;
  SteadyTime deadline_;
  short wants_ = POLLIN;
  std::string in_;
  std::string out_;  // empty: the head is not complete yet
  size_t written_ = 0;
};

absl::StatusOr<std::unique_ptr<MetricsPort>> MetricsPort::Open(const MetricsPortOptions& options) {
  if (!options.tls.cert.empty()) {
    RETURN_IF_ERROR(access::CheckTlsFiles(options.tls).status());
  }
  absl::StatusOr<std::unique_ptr<net::Acceptor>> acceptor = net::Acceptor::Open({.address = options.address,
                                                                                 .limits = kConnections,
                                                                                 .silent_timeout = options.timeout,
                                                                                 .on_lost = options.on_lost});
  if (!acceptor.ok()) {
    return absl::UnavailableError(
        absl::StrCat("cannot serve metrics on ", options.address, ": ", acceptor.status().message()));
  }
  std::unique_ptr<MetricsPort> port(new MetricsPort(options, *std::move(acceptor)));
  if (!port->wake_.is_open()) return absl::UnavailableError("cannot serve metrics: no descriptor is free");
  return port;
}

MetricsPort::MetricsPort(const MetricsPortOptions& options, std::unique_ptr<net::Acceptor> acceptor)
    : options_(options), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), acceptor_(std::move(acceptor)) {}

MetricsPort::~MetricsPort() { Stop(); }

void MetricsPort::Start(ReadMetrics read_metrics) {
  read_metrics_ = std::move(read_metrics);
  thread_ = std::thread([this] { Run(); });
  acceptor_->Start([this](int fd) { Take(fd); });
}

void MetricsPort::Stop() {
  acceptor_->Stop();
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  Wake();
  if (thread_.joinable()) thread_.join();
}

void MetricsPort::Take(int fd) {
  {
    absl::MutexLock lock(&mutex_);
    taken_.emplace_back(fd);
  }
  Wake();
}

void MetricsPort::Wake() const {
  const uint64_t one = 1;
  while (write(wake_.fd(), &one, sizeof(one)) < 0 && errno == EINTR) continue;
}

void MetricsPort::Run() {
  BlockSigpipe();
  const auto answer = [this](std::string_view head) { return Answer(head); };
  while (true) {
    std::vector<pollfd> polled = Wanted();
    poll(polled.data(), polled.size(), WaitMs());
    {
      absl::MutexLock lock(&mutex_);
      if (stopping_) break;
    }
    uint64_t count = 0;
    while (read(wake_.fd(), &count, sizeof(count)) < 0 && errno == EINTR) continue;
    BeginTaken();
    const SteadyTime now = SteadyNow();
    conversations_.remove_if(
        [&](Conversation& conversation) { return now >= conversation.deadline() || !conversation.GoOn(answer); });
  }
  conversations_.clear();
}

void MetricsPort::BeginTaken() {
  std::vector<net::Socket> taken;
  {
    absl::MutexLock lock(&mutex_);
    taken.swap(taken_);
  }
  for (net::Socket& socket : taken) {
    std::optional<access::TlsConnection> tls;
    if (!options_.tls.cert.empty()) {
      absl::StatusOr<access::TlsConnection> connection = access::TlsConnection::Begin(options_.tls, socket.fd());
      if (!connection.ok()) {
        log::Warn("cannot serve the metrics over TLS", {{"reason", connection.status().ToString()}});
        continue;
      }
      tls = *std::move(connection);
    }
    conversations_.emplace_back(std::move(socket), std::move(tls), SteadyAfter(options_.timeout));
  }
}

std::vector<pollfd> MetricsPort::Wanted() const {
  std::vector<pollfd> polled = {{.fd = wake_.fd(), .events = POLLIN}};
  for (const Conversation& conversation : conversations_) {
    polled.push_back({.fd = conversation.fd(), .events = conversation.wants()});
  }
  return polled;
}

int MetricsPort::WaitMs() const {
  if (conversations_.empty()) return -1;
  SteadyTime first = kNever;
  for (const Conversation& conversation : conversations_) first = std::min(first, conversation.deadline());
  return static_cast<int>(absl::ToInt64Milliseconds(std::max(TimeUntil(first), absl::ZeroDuration()))) + 1;
}

absl::Status MetricsPort::Allow(const std::vector<std::string_view>& authorization) {
  if (options_.tokens == nullptr) return absl::OkStatus();
  const auto token = access::Authorize(*options_.tokens->tokens(), access::kMetricsPage, authorization, absl::Now());
  uint64_t left_out = 0;
  if (!token.ok() && refusal_lines_.Take(SteadyNow(), &left_out)) {
    log::Warn("refused a request for the metrics", {{"reason", token.status().ToString()}, {"left_out", left_out}});
  }
  return token.status();
}

std::string MetricsPort::Answer(std::string_view head) {
  return AnswerHttp(
      head, [this](const auto& authorization) { return Allow(authorization); }, read_metrics_);
}

}  // namespace telemetry::collector
