// Tests an acceptor with real sockets on loopback. The test server only keeps the connections that it is given.

#include "server/net/acceptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <list>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "tests/server/access/log_capture.h"

namespace telemetry::net {
namespace {

constexpr int kPatienceMs = 60'000;

class Client {
 public:
  // A client that has its descriptor, but is not connected.
  Client() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  // `host`: the last byte of the client's address 127.0.0.x.
  explicit Client(int port, uint32_t host = 1) : Client() { Connect(port, host); }

  void Connect(int port, uint32_t host = 1) {
    sockaddr_in from = {.sin_family = AF_INET};
    from.sin_addr.s_addr = htonl(0x7f000000 + host);
    sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(static_cast<uint16_t>(port))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    setsockopt(socket_.fd(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
    connected_ = bind(socket_.fd(), reinterpret_cast<sockaddr*>(&from), sizeof(from)) == 0 &&
                 connect(socket_.fd(), reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0;
  }

  bool connected() const { return connected_; }
  sockaddr_storage Address() const {
    sockaddr_storage address = {};
    socklen_t size = sizeof(address);
    getsockname(socket_.fd(), reinterpret_cast<sockaddr*>(&address), &size);
    return address;
  }
  bool Send(const std::string& text) const {
    return send(socket_.fd(), text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  // Blocks until the connection has ended.
  bool AwaitEnd() const {
    pollfd poll_fd = {.fd = socket_.fd(), .events = POLLIN};
    char byte = 0;
    return poll(&poll_fd, 1, kPatienceMs) == 1 && recv(socket_.fd(), &byte, 1, MSG_DONTWAIT) <= 0;
  }
  bool IsOpen() const {
    char byte = 0;
    return recv(socket_.fd(), &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
  }

 private:
  Socket socket_;
  bool connected_ = false;
};

class AcceptorTest : public ::testing::Test {
 protected:
  void Start(AcceptorOptions options, Acceptor::LookAtServer look_at_server = nullptr) {
    options.address = "127.0.0.1:0";
    options.on_lost = [this](const absl::Status& /*status*/) { ++lost_; };
    auto acceptor = Acceptor::Open(options);
    ASSERT_TRUE(acceptor.ok()) << acceptor.status();
    acceptor_ = *std::move(acceptor);
    acceptor_->Start(
        [this](int fd) {
          absl::MutexLock lock(&mutex_);
          taken_.emplace_back(fd);
        },
        std::move(look_at_server));
  }
  ~AcceptorTest() override { acceptor_.reset(); }

  size_t taken() {
    absl::MutexLock lock(&mutex_);
    return taken_.size();
  }
  bool AwaitTaken(size_t count) {
    absl::MutexLock lock(&mutex_);
    const auto is_so = [this, count]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return taken_.size() >= count; };
    return mutex_.AwaitWithTimeout(absl::Condition(&is_so), absl::Milliseconds(kPatienceMs));
  }
  // Blocks until the count has this value. Returns false on timeout.
  template <typename Count>
  bool AwaitCount(Count Acceptor::Counts::*count, uint64_t value) {
    const SteadyTime deadline = SteadyAfter(absl::Milliseconds(kPatienceMs));
    while (acceptor_->counts().*count != value && SteadyNow() < deadline) absl::SleepFor(absl::Milliseconds(1));
    return acceptor_->counts().*count == value;
  }
  // Returns true if a new client from this address is handed over.
  bool IsServed(uint32_t host = 1) {
    const size_t before = taken();
    const Client client(acceptor_->port(), host);
    return client.Send("x") && AwaitTaken(before + 1);
  }
  void CloseTaken() {
    absl::MutexLock lock(&mutex_);
    for (Socket& socket : taken_) socket.Close();
  }
  // Shuts down every listening socket at the acceptor's port.
  void LoseListener() const {
    for (int fd = 0; fd < 1024; ++fd) {
      sockaddr_in address = {};
      socklen_t size = sizeof(address);
      int listens = 0;
      socklen_t listens_size = sizeof(listens);
      if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &listens_size) == 0 && listens != 0 &&
          getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
          ntohs(address.sin_port) == acceptor_->port()) {
        shutdown(fd, SHUT_RDWR);
      }
    }
  }

  const access::LogCapture log_;
  absl::Mutex mutex_;
  std::vector<Socket> taken_ ABSL_GUARDED_BY(mutex_);
  std::atomic<int> lost_ = 0;
  std::unique_ptr<Acceptor> acceptor_;
};

// Prevents the process from opening further descriptors during its lifetime.
class NoMoreFiles {
 public:
  NoMoreFiles() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const Socket lowest_free(dup(STDERR_FILENO));
    const rlimit none = {.rlim_cur = static_cast<rlim_t>(lowest_free.fd()), .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoMoreFiles() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_ = {};
};

TEST_F(AcceptorTest, HandsOverWhoSaysSomething) {
  Start({});
  const Client client(acceptor_->port());
  ASSERT_TRUE(client.Send("hello"));
  ASSERT_TRUE(AwaitTaken(1));
  absl::MutexLock lock(&mutex_);
  std::string text(5, ' ');
  EXPECT_EQ(recv(taken_[0].fd(), text.data(), text.size(), 0), 5) << "the acceptor has read nothing";
  EXPECT_EQ(text, "hello");
  EXPECT_NE(fcntl(taken_[0].fd(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(fcntl(taken_[0].fd(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(AcceptorTest, ClosesWhoSaysNothing) {
  Start({.silent_timeout = absl::Milliseconds(1)});
  const Client client(acceptor_->port());
  EXPECT_TRUE(client.AwaitEnd());
  EXPECT_TRUE(AwaitCount(&Acceptor::Counts::silent, 1));
  EXPECT_EQ(taken(), 0);
}

TEST_F(AcceptorTest, ForgetsWhoGoesAwayWithoutAWord) {
  Start({});
  {
    const Client client(acceptor_->port());
    ASSERT_TRUE(AwaitCount(&Acceptor::Counts::open, 1));
  }
  EXPECT_TRUE(AwaitCount(&Acceptor::Counts::open, 0));
  EXPECT_EQ(taken(), 0);
}

TEST_F(AcceptorTest, RefusesWhatIsBeyondTheLimitOfANetwork) {
  Start({.limits = {.in_total = 10, .per_network = 2}});
  const std::vector<Client> clients = [this] {
    std::vector<Client> all;
    for (int i = 0; i < 2; ++i) all.emplace_back(acceptor_->port());
    return all;
  }();
  for (const Client& client : clients) ASSERT_TRUE(client.Send("x"));
  ASSERT_TRUE(AwaitTaken(2));
  const Client third(acceptor_->port());
  EXPECT_TRUE(third.AwaitEnd());
  EXPECT_TRUE(AwaitCount(&Acceptor::Counts::refused_network, 1));
  EXPECT_TRUE(IsServed(2)) << "a client from another address";
  for (const Client& client : clients) EXPECT_TRUE(client.IsOpen());

  // The server closes its connections without notifying the acceptor.
  CloseTaken();
  EXPECT_TRUE(AwaitCount(&Acceptor::Counts::open, 0));
  EXPECT_TRUE(IsServed());
}

TEST_F(AcceptorTest, RefusesWhatIsBeyondTheLimitOfAll) {
  Start({.limits = {.in_total = 2, .per_network = 2}});
  const Client first(acceptor_->port(), 1);
  const Client second(acceptor_->port(), 2);
  ASSERT_TRUE(first.Send("x") && second.Send("x") && AwaitTaken(2));
  const Client third(acceptor_->port(), 3);
  EXPECT_TRUE(third.AwaitEnd());
  EXPECT_TRUE(AwaitCount(&Acceptor::Counts::refused, 1));
  EXPECT_TRUE(first.IsOpen() && second.IsOpen());
}

TEST_F(AcceptorTest, ServesANewClientAmongSilentOnes) {
  Start({.limits = {.in_total = 8, .per_network = 4}});
  const Client talking(acceptor_->port());
  ASSERT_TRUE(talking.Send("x") && AwaitTaken(1));
  std::vector<Client> silent;
  for (int i = 0; i < 100; ++i) silent.emplace_back(acceptor_->port());
  EXPECT_TRUE(AwaitCount(&Acceptor::Counts::made_room, 97));
  EXPECT_TRUE(IsServed());
  for (uint32_t i = 0; i < 100; ++i) silent.emplace_back(acceptor_->port(), 2 + i);
  EXPECT_TRUE(IsServed());
  EXPECT_TRUE(IsServed(200));
  EXPECT_TRUE(talking.IsOpen()) << "a connection that has sent something stays open";
}

TEST_F(AcceptorTest, GoesOnAfterItHadNoDescriptor) {
  Start({});
  const Client before(acceptor_->port());
  ASSERT_TRUE(before.Send("x") && AwaitTaken(1));
  // The clients have their descriptors before those of the acceptor are used up.
  std::vector<Client> clients(8);
  {
    const NoMoreFiles no_more;
    for (Client& client : clients) {
      client.Connect(acceptor_->port());
      ASSERT_TRUE(client.connected() && client.AwaitEnd());
    }
    EXPECT_TRUE(AwaitCount(&Acceptor::Counts::dropped, 8)) << "the connections are dropped immediately";
  }
  EXPECT_TRUE(IsServed());
  EXPECT_TRUE(before.IsOpen());
}

TEST_F(AcceptorTest, OpensALostListenerAgain) {
  Start({});
  const Client before(acceptor_->port());
  ASSERT_TRUE(before.Send("x") && AwaitTaken(1));
  for (uint64_t i = 1; i <= 3; ++i) {
    LoseListener();
    EXPECT_TRUE(AwaitCount(&Acceptor::Counts::reopened, i));
    EXPECT_TRUE(IsServed());
  }
  EXPECT_TRUE(before.IsOpen());
  EXPECT_EQ(lost_, 0);
}

TEST_F(AcceptorTest, TellsOfAListenerThatCannotBeOpenedAgain) {
  Start({.reopen_timeout = absl::Milliseconds(100)});
  {
    const NoMoreFiles no_more;
    rlimit limit = {};
    getrlimit(RLIMIT_NOFILE, &limit);
    const rlimit none = {.rlim_cur = 0, .rlim_max = limit.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    LoseListener();
    const SteadyTime deadline = SteadyAfter(absl::Milliseconds(kPatienceMs));
    while (lost_ == 0 && SteadyNow() < deadline) absl::SleepFor(absl::Milliseconds(1));
  }
  EXPECT_GT(lost_, 0);
  EXPECT_TRUE(AwaitCount(&Acceptor::Counts::reopened, 1)) << "the acceptor keeps trying";
  EXPECT_TRUE(IsServed());
}

TEST_F(AcceptorTest, ListensNoMoreAfterStop) {
  Start({});
  const Client talking(acceptor_->port());
  ASSERT_TRUE(talking.Send("x") && AwaitTaken(1));
  const Client silent(acceptor_->port());
  ASSERT_TRUE(AwaitCount(&Acceptor::Counts::open, 2));
  acceptor_->Stop();
  EXPECT_TRUE(silent.AwaitEnd());
  EXPECT_TRUE(talking.IsOpen());
  EXPECT_FALSE(Client(acceptor_->port()).connected());
}

TEST_F(AcceptorTest, IgnoresAStormOfConnectionsOfAShunnedNetwork) {
  Start({});
  const Client flooding(acceptor_->port(), 2);
  ASSERT_TRUE(flooding.Send("x"));
  ASSERT_TRUE(AwaitTaken(1));
  acceptor_->EndConnection(Peer::Of(flooding.Address()));
  ASSERT_TRUE(flooding.AwaitEnd());
  // The connection after the last reset one waits in the kernel until it is tried again.
  int connections = 0;
  while (acceptor_->counts().storms == 0 && connections < 1000) {
    const Client again(acceptor_->port(), 2);
    ++connections;
  }
  EXPECT_EQ(acceptor_->counts().storms, 1u);
  EXPECT_LT(connections, 1000);
  EXPECT_TRUE(IsServed(3));
  // The network is not ignored for longer than the moment.
  EXPECT_TRUE(Client(acceptor_->port(), 2).connected());
}

TEST_F(AcceptorTest, EndsAConnectionThatWasHandedOver) {
  Start({});
  const Client flooding(acceptor_->port(), 2);
  const Client other(acceptor_->port(), 2);
  ASSERT_TRUE(flooding.Send("x"));
  ASSERT_TRUE(AwaitTaken(1));
  ASSERT_TRUE(other.Send("x"));
  ASSERT_TRUE(AwaitTaken(2));
  acceptor_->EndConnection(Peer::Of(flooding.Address()));
  EXPECT_TRUE(flooding.AwaitEnd());
  EXPECT_TRUE(other.IsOpen());
  EXPECT_EQ(acceptor_->counts().ended, 1u);
  // Its network is shunned, but no other one.
  EXPECT_TRUE(Client(acceptor_->port(), 2).AwaitEnd());
  EXPECT_EQ(acceptor_->counts().shunned, 1u);
  const Client of_another(acceptor_->port(), 3);
  ASSERT_TRUE(of_another.Send("x"));
  EXPECT_TRUE(AwaitTaken(3));
}

TEST_F(AcceptorTest, HandsOverWhatANetworkSendsAtOnceInTurn) {
  Start({});
  std::list<Client> clients;
  for (int i = 0; i < 3 * NetworkPace::kTurnsAtOnce; ++i)
    ASSERT_TRUE(clients.emplace_back(acceptor_->port(), 2).Send("x"));
  const Client other(acceptor_->port(), 3);
  ASSERT_TRUE(other.Send("x"));
  EXPECT_TRUE(AwaitTaken(3 * NetworkPace::kTurnsAtOnce + 1));
  EXPECT_EQ(acceptor_->counts().silent + acceptor_->counts().made_room, 0u);
}

TEST_F(AcceptorTest, EndsAConnectionOfWhichTheServerHoldsTooMuch) {
  ReceiveMeter meter(1000);
  Start({.meter = &meter});
  const Client holding(acceptor_->port(), 2);
  const Client other(acceptor_->port(), 3);
  meter.BeginCall(Peer::Of(holding.Address()));
  meter.BeginCall(Peer::Of(other.Address()));
  ASSERT_TRUE(holding.Send(std::string(1500, 'x')));
  ASSERT_TRUE(AwaitTaken(1));
  ASSERT_TRUE(other.Send(std::string(100, 'x')));
  ASSERT_TRUE(AwaitTaken(2));
  EXPECT_TRUE(holding.IsOpen()) << "the server has read nothing";
  {
    absl::MutexLock lock(&mutex_);
    std::string bytes(1500, ' ');
    for (const Socket& socket : taken_) ASSERT_GT(read(socket.fd(), bytes.data(), bytes.size()), 0);
  }
  EXPECT_TRUE(holding.AwaitEnd());
  EXPECT_TRUE(other.IsOpen());
  acceptor_->Stop();
}

TEST_F(AcceptorTest, EndsAConnectionThatKeepsTheServerBusy) {
  ReceiveMeter meter(1 << 30);
  std::atomic<bool> is_stuck = false;
  Start({.meter = &meter}, [&] { return is_stuck ? ServerLoad::kStuck : ServerLoad::kLight; });
  const Client busy(acceptor_->port(), 2);
  const Client other(acceptor_->port(), 3);
  ASSERT_TRUE(busy.Send("x"));
  ASSERT_TRUE(other.Send("x"));
  ASSERT_TRUE(AwaitTaken(2));
  is_stuck = true;
  while (busy.Send(std::string(10'000, 'x'))) {
    absl::MutexLock lock(&mutex_);
    std::string bytes(10'000, ' ');
    for (const Socket& socket : taken_) static_cast<void>(read(socket.fd(), bytes.data(), bytes.size()));
  }
  EXPECT_TRUE(busy.AwaitEnd());
  EXPECT_TRUE(other.IsOpen());
  EXPECT_TRUE(Client(acceptor_->port(), 2).AwaitEnd()) << "its network is shunned";
  acceptor_->Stop();
}

TEST_F(AcceptorTest, ANetworkThatHoldsMuchMakesWayWhenMemoryIsScarce) {
  ReceiveMeter meter(1 << 30);
  Start({.meter = &meter, .memory_bytes = 1});
  const Client holding(acceptor_->port(), 2);
  meter.BeginCall(Peer::Of(holding.Address()));
  ASSERT_TRUE(holding.Send(std::string(1'000'000, 'x')));
  ASSERT_TRUE(AwaitTaken(1));
  {
    absl::MutexLock lock(&mutex_);
    std::string bytes(300'000, ' ');
    for (size_t size = 0; size < bytes.size();) {
      const ssize_t more = read(taken_[0].fd(), bytes.data(), bytes.size() - size);
      if (more > 0) size += static_cast<size_t>(more);
    }
  }
  EXPECT_TRUE(holding.AwaitEnd());
  {
    absl::MutexLock lock(&mutex_);
    char byte = 0;
    EXPECT_LE(read(taken_[0].fd(), &byte, 1), 0) << "the bytes that it sent are discarded";
  }
  EXPECT_TRUE(Client(acceptor_->port(), 2).AwaitEnd()) << "its network is shunned";
  EXPECT_TRUE(IsServed(3));
  acceptor_->Stop();
}

}  // namespace
}  // namespace telemetry::net
