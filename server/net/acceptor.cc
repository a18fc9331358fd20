#include "server/net/acceptor.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/thread_name.h"
#include "proto/log/log.h"

namespace telemetry::net {
namespace {

constexpr absl::Duration kLookEvery = absl::Seconds(1);
constexpr absl::Duration kLookMostOften = absl::Milliseconds(20);
// The pause in accepting when there are no descriptors or no memory.
constexpr absl::Duration kRest = absl::Milliseconds(50);
// At a limit, each new connection would check for connections that have closed meanwhile.
constexpr absl::Duration kRemoveClosedMostOften = absl::Milliseconds(50);
// The interval of the meter readings. With many connections it is kReadMetersPause times the CPU time of a reading, but
// at most kReadMetersPart of the time in which the meter may reach its limit.
constexpr absl::Duration kReadMetersMostOften = absl::Milliseconds(10);
constexpr absl::Duration kReadMetersAtLeastEvery = absl::Milliseconds(50);
constexpr int kReadMetersPause = 20;
constexpr double kReadMetersPart = 0.25;
// A check makes a few system calls.
constexpr absl::Duration kCheckServerEvery = absl::Milliseconds(10);
constexpr absl::Duration kCheckBusyServerEvery = absl::Milliseconds(3);
// Each round checks all waiting connections, of which there may be thousands.
constexpr absl::Duration kTakeTurnsMostOften = absl::Milliseconds(5);
// The most accepts before connections that have sent something are handed over.
constexpr int kAcceptsAtATime = 64;
constexpr int kEventsAtATime = 64;

absl::Duration LookInterval(absl::Duration silent_timeout) {
  return std::clamp(silent_timeout / 4, kLookMostOften, kLookEvery);
}

void Notify(const Socket& event) {
  const uint64_t one = 1;
  while (write(event.fd(), &one, sizeof(one)) < 0 && errno == EINTR) continue;
}

absl::Duration ThreadCpuTime() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return absl::DurationFromTimespec(time);
}

int OpenSpare() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

}  // namespace

absl::StatusOr<std::unique_ptr<Acceptor>> Acceptor::Open(AcceptorOptions options) {
  ASSIGN_OR_RETURN(std::vector<Listener> listeners, ListenAt(options.address, options.listener));
  std::unique_ptr<Acceptor> acceptor(new Acceptor(std::move(options), std::move(listeners)));
  RETURN_IF_ERROR(acceptor->SetUp());
  return acceptor;
}

Acceptor::Acceptor(AcceptorOptions options, std::vector<Listener> listeners)
    : options_(std::move(options)),
      port_(listeners.at(0).port()),
      look_interval_(LookInterval(options_.silent_timeout)),
      listeners_(std::move(listeners)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      spare_(OpenSpare()),
      table_(options_.limits),
      memory_(options_.memory_bytes),
      stop_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      end_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Acceptor::~Acceptor() { Stop(); }

absl::Status Acceptor::SetUp() {
  if (!epoll_.is_open() || !spare_.is_open() || !stop_.is_open() || !end_.is_open() || !Watch(stop_.fd(), EPOLLIN) ||
      !Watch(end_.fd(), EPOLLIN)) {
    return absl::UnavailableError(absl::StrCat("no descriptor is free: ", std::strerror(errno)));
  }
  return absl::OkStatus();
}

bool Acceptor::Watch(int fd, uint32_t events) const {
  epoll_event event = {.events = events, .data = {.fd = fd}};
  if (epoll_ctl(epoll_.fd(), EPOLL_CTL_ADD, fd, &event) == 0) return true;
  return errno == EEXIST && epoll_ctl(epoll_.fd(), EPOLL_CTL_MOD, fd, &event) == 0;
}

void Acceptor::Start(TakeConnection take, LookAtServer look_at_server) {
  take_ = std::move(take);
  look_at_server_ = std::move(look_at_server);
  for (const Listener& listener : listeners_) Watch(listener.fd(), EPOLLIN);
  thread_ = std::thread([this] { Run(); });
}

void Acceptor::Stop() {
  if (thread_.joinable()) {
    Notify(stop_);
    thread_.join();
  }
  listeners_.clear();
  while (const std::optional<int> fd = table_.OldestSilent()) Drop(*fd);
  for (const int fd : std::exchange(waiting_, {})) Drop(fd);
}

Acceptor::Counts Acceptor::counts() const {
  return {.open = open_,
          .refused = refused_,
          .refused_network = refused_network_,
          .shunned = shunned_,
          .made_room = made_room_,
          .silent = closed_silent_,
          .dropped = dropped_,
          .storms = storms_,
          .ended = ended_,
          .reopened = reopened_};
}

void Acceptor::Run() {
  NameThread("acceptor");
  std::array<epoll_event, kEventsAtATime> events;
  next_look_ = SteadyNow();
  while (true) {
    const bool meters = options_.meter != nullptr && table_.size() > 0;
    SteadyTime next = meters ? std::min(next_look_, next_reading_) : next_look_;
    if (!waiting_.empty()) next = std::min(next, next_turns_);
    if (meters && look_at_server_) next = std::min(next, next_check_);
    next = std::min(next, storm_.next_expiry());
    const absl::Duration wait = std::max(TimeUntil(next), absl::ZeroDuration());
    const int count =
        epoll_wait(epoll_.fd(), events.data(), kEventsAtATime, static_cast<int>(absl::ToInt64Milliseconds(wait)) + 1);
    for (int i = 0; i < count; ++i) {
      if (!Handle(events.at(static_cast<size_t>(i)).data.fd)) return;
    }
    if (!waiting_.empty() && SteadyNow() >= next_turns_) TakeTurns();
    if (SteadyNow() >= next_look_) {
      next_look_ = SteadyAfter(look_interval_);
      Look();
    }
    if (meters && SteadyNow() >= next_reading_) ReadMeters();
    if (meters && look_at_server_ && SteadyNow() >= next_check_) CheckServer();
    if (storm_.Expire(SteadyNow())) UpdateFilters();
    open_ = table_.size();
  }
}

bool Acceptor::Handle(int fd) {
  if (fd == stop_.fd()) return false;
  if (Listener* listener = FindListener(fd); listener != nullptr) {
    AcceptFrom(*listener);
  } else if (fd == end_.fd()) {
    EndConnections();
  } else {
    Hear(fd);
  }
  return true;
}

void Acceptor::EndConnection(const Peer& peer) {
  const absl::MutexLock lock(&mutex_);
  peers_to_end_.push_back(peer);
  Notify(end_);
}

void Acceptor::EndConnections() {
  uint64_t count = 0;
  while (read(end_.fd(), &count, sizeof(count)) < 0 && errno == EINTR) continue;
  std::vector<Peer> peers;
  {
    const absl::MutexLock lock(&mutex_);
    peers.swap(peers_to_end_);
  }
  for (const Peer& peer : peers) {
    End(peer);
    pace_.Shun(peer.network, SteadyNow());
  }
}

void Acceptor::End(const Peer& peer) {
  const std::optional<Socket> socket = table_.Share(peer);
  if (!socket.has_value()) return;
  ++ended_;
  Disconnect(socket->fd());
}

void Acceptor::ReadMeters() {
  const SteadyTime now = SteadyNow();
  const absl::Duration elapsed = absl::FromChrono(now - std::exchange(meters_read_at_, now));
  const absl::Duration begin = ThreadCpuTime();
  const bool is_scarce = memory_.IsScarce();
  const std::vector<ReceiveMeter::Excess> excess = options_.meter->Update(table_.ReadMeters(), elapsed, is_scarce);
  const absl::Duration pause = kReadMetersPause * (ThreadCpuTime() - begin);
  next_reading_ = SteadyAfter(std::clamp(std::min(pause, kReadMetersPart * options_.meter->TimeToLimit()),
                                         kReadMetersMostOften, kReadMetersAtLeastEvery));
  for (const ReceiveMeter::Excess& one : excess) {
    End(one.peer);
    if (is_scarce) pace_.Shun(one.peer.network, now);
    excesses_.last = one.peer.network.ToString();
  }
  excesses_.count += excess.size();
}

void Acceptor::CheckServer() {
  const ServerLoad load = look_at_server_();
  next_check_ = SteadyAfter(load == ServerLoad::kLight ? kCheckServerEvery : kCheckBusyServerEvery);
  if (load != ServerLoad::kStuck) return;
  ReadMeters();
  const SteadyTime now = SteadyNow();
  for (const ReceiveMeter::Excess& one : options_.meter->FindBusiest()) {
    End(one.peer);
    pace_.Shun(one.peer.network, now);
    busiest_.last = one.peer.network.ToString();
    ++busiest_.count;
  }
}

Listener* Acceptor::FindListener(int fd) {
  for (Listener& listener : listeners_) {
    if (listener.fd() == fd) return &listener;
  }
  return nullptr;
}

void Acceptor::AcceptFrom(Listener& listener) {
  for (int i = 0; i < kAcceptsAtATime; ++i) {
    sockaddr_storage peer = {};
    socklen_t size = sizeof(peer);
    const int fd = accept4(listener.fd(), reinterpret_cast<sockaddr*>(&peer), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      Admit(fd, Peer::Of(peer));
    } else if (!HandleError(listener, errno)) {
      return;
    }
  }
}

bool Acceptor::HandleError(Listener& listener, int error) {
  switch (error) {
    case EAGAIN:
      return false;
    case EMFILE:
    case ENFILE:
      return DropOne(listener);
    case ENOMEM:
    case ENOBUFS:
      Rest(listener);
      return false;
    default:
      // Most errors concern the connection that was to be accepted.
      if (listener.IsListening()) return true;
      Reopen(listener);
      return false;
  }
}

// accept4 allocates a descriptor before it looks for a connection, so it may fail although none waits.
bool Acceptor::DropOne(const Listener& listener) {
  spare_.Close();
  const int fd = accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC);
  const bool waits_none = fd < 0 && errno == EAGAIN;
  if (fd >= 0) {
    Reset(fd);
    ++dropped_;
  } else if (!waits_none) {
    Rest(listener);
  }
  spare_ = Socket(OpenSpare());
  return fd >= 0;
}

void Acceptor::Rest(const Listener& listener) {
  Watch(listener.fd(), 0);
  next_look_ = std::min(next_look_, SteadyAfter(kRest));
}

void Acceptor::Admit(int fd, const Peer& peer) {
  table_.Remove(fd);  // the connection that had this descriptor is closed
  const bool is_shunned = pace_.IsShunned(peer.network, SteadyNow());
  if (is_shunned || !MakeRoom(peer.network)) {
    if (is_shunned) ++shunned_;
    return Refuse(fd, peer.network);
  }
  AcceptPackets(fd);
  table_.Add(fd, peer, SteadyNow());
  if (!Watch(fd, EPOLLIN | EPOLLRDHUP)) Drop(fd);
}

void Acceptor::Refuse(int fd, const Network& network) {
  Reset(fd);
  refusals_.last = network.ToString();
  if (!storm_.CountReset(network, SteadyNow())) return;
  ++storms_;
  UpdateFilters();
}

void Acceptor::UpdateFilters() {
  const std::vector<Network> networks = storm_.dropped();
  bool filtered = true;
  for (const Listener& listener : listeners_) filtered = DropPackets(listener.fd(), networks) && filtered;
  if (filtered || std::exchange(filter_refused_, true)) return;
  log::Warn("the kernel refuses a packet filter, so that storms of connections cost more processor time",
            {{"listen", options_.address}, {"port", port_}});
}

bool Acceptor::MakeRoom(const Network& network) {
  ConnectionTable::Room room = table_.RoomFor(network);
  if (room == ConnectionTable::Room::kYes) return true;
  if (SteadyNow() >= next_remove_closed_) {
    RemoveClosed();
    room = table_.RoomFor(network);
    if (room == ConnectionTable::Room::kYes) return true;
  }
  if (CloseSilent(network)) return true;
  ++(room == ConnectionTable::Room::kNetworkIsFull ? refused_network_ : refused_);
  return false;
}

bool Acceptor::CloseSilent(const Network& network) {
  ConnectionTable::Room room = table_.RoomFor(network);
  while (room != ConnectionTable::Room::kYes) {
    const bool is_network = room == ConnectionTable::Room::kNetworkIsFull;
    const std::optional<int> fd = is_network ? table_.OldestSilent(network) : table_.OldestSilent();
    if (!fd) return false;
    // The connection may have sent something whose event has not been handled.
    Hear(*fd);
    if (table_.IsSilent(*fd)) {
      ++made_room_;
      Drop(*fd);
    }
    room = table_.RoomFor(network);
  }
  return true;
}

void Acceptor::RemoveClosed() {
  table_.RemoveClosed();
  next_remove_closed_ = SteadyAfter(kRemoveClosedMostOften);
}

void Acceptor::Drop(int fd) {
  table_.Remove(fd);
  Reset(fd);
}

void Acceptor::Hear(int fd) {
  // Ignores the event of a connection that another event has closed meanwhile.
  if (!table_.IsSilent(fd)) return;
  char byte = 0;
  const ssize_t size = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) return Drop(fd);
  epoll_ctl(epoll_.fd(), EPOLL_CTL_DEL, fd, nullptr);
  table_.SetTalking(fd);
  waiting_.push_back(fd);
}

void Acceptor::TakeTurns() {
  const SteadyTime now = SteadyNow();
  next_turns_ = now + absl::ToChronoNanoseconds(kTakeTurnsMostOften);
  std::erase_if(waiting_, [this, now](int fd) {
    switch (pace_.TakeTurn(table_.PeerNetwork(fd), now)) {
      case NetworkPace::Turn::kNow:
        take_(fd);
        return true;
      case NetworkPace::Turn::kLater:
        return false;
      case NetworkPace::Turn::kNever: {
        const Network network = table_.PeerNetwork(fd);
        ++shunned_;
        table_.Remove(fd);
        Refuse(fd, network);
        return true;
      }
    }
    return false;
  });
}

void Acceptor::Look() {
  RemoveClosed();
  const SteadyTime too_old = SteadyNow() - absl::ToChronoNanoseconds(options_.silent_timeout);
  while (const std::optional<int> fd = table_.OldestSilent(too_old)) {
    ++closed_silent_;
    Drop(*fd);
  }
  if (!spare_.is_open()) spare_ = Socket(OpenSpare());
  pace_.Forget(SteadyNow());
  CheckListeners();
  LogRefusals();
  Log("ended connections that held too many bytes of unfinished messages", excesses_);
  Log("ended connections that kept others waiting: they send faster than they can be read", busiest_);
}

void Acceptor::CheckListeners() {
  for (Listener& listener : listeners_) {
    if (listener.IsListening()) {
      Watch(listener.fd(), EPOLLIN);
    } else {
      Reopen(listener);
    }
  }
  const bool all_listen = std::all_of(listeners_.begin(), listeners_.end(),
                                      [](const Listener& listener) { return listener.IsListening(); });
  if (all_listen) lost_since_.reset();
}

void Acceptor::Reopen(Listener& listener) {
  next_look_ = std::min(next_look_, SteadyAfter(kRest));
  const absl::Status status = listener.Reopen();
  if (status.ok()) {
    ++reopened_;
    log::Error("a listening socket was lost and opened again", {{"listen", options_.address}, {"port", port_}});
    Watch(listener.fd(), EPOLLIN);
    return;
  }
  if (!lost_since_) {
    lost_since_ = SteadyNow();
    log::Error("a listening socket was lost",
               {{"listen", options_.address}, {"port", port_}, {"reason", status.ToString()}});
  }
  if (ElapsedSince(*lost_since_) < options_.reopen_timeout) return;
  lost_since_ = SteadyNow();
  if (options_.on_lost) options_.on_lost(status);
}

void Acceptor::LogRefusals() {
  const uint64_t refusals = refused_ + refused_network_ + shunned_ + made_room_ + dropped_;
  refusals_.count = refusals - std::exchange(logged_refusals_, refusals);
  Log("refused connections", refusals_);
}

void Acceptor::Log(std::string_view message, Unlogged& connections) {
  if (connections.count == 0) return;
  log::Warn(message, {{"port", port_},
                      {"count", std::exchange(connections.count, 0)},
                      {"open", table_.size()},
                      {"last", connections.last}});
}

}  // namespace telemetry::net
