#include "server/net/listener.h"

#include <linux/tcp.h>
#include <netdb.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace telemetry::net {
namespace {

// The kernel lowers the backlog to net.core.somaxconn.
constexpr int kBacklog = 4096;
// A port that is free at one address of the host may be in use at the next one.
constexpr int kPortAttempts = 16;

using Addresses = std::vector<sockaddr_storage>;

socklen_t AddressLength(const sockaddr_storage& address) {
  return address.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

// Returns the port, which both families store at the same offset.
in_port_t& MutablePort(sockaddr_storage& address) {
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  return reinterpret_cast<sockaddr_in&>(address).sin_port;
}

absl::Status SystemError(const char* call) {
  const int error = errno;
  if (error == EADDRINUSE)
    return absl::UnavailableError("the port is in use: stop the program that listens there or choose another port");
  const std::string message = absl::StrCat(call, ": ", std::strerror(error));
  const bool is_missing = error == EADDRNOTAVAIL || error == EAFNOSUPPORT;
  return is_missing ? absl::NotFoundError(message) : absl::UnavailableError(message);
}

void Set(int fd, int level, int option, int value) { setsockopt(fd, level, option, &value, sizeof(value)); }

// Sets the socket options, which accepted connections inherit.
void SetOptions(int fd, sa_family_t family, const ListenerOptions& options) {
  Set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  Set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  Set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(absl::ToInt64Milliseconds(options.unacknowledged_timeout)));
  if (family == AF_INET6) Set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
}

// Returns [::], whose IPv6 socket accepts IPv4 connections, too.
Addresses EveryAddress(in_port_t port) {
  Addresses addresses(1);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(addresses[0]);
  v6.sin6_family = AF_INET6;
  v6.sin6_port = port;
  return addresses;
}

Addresses EveryV4Address(in_port_t port) {
  Addresses addresses(1);
  auto& v4 = reinterpret_cast<sockaddr_in&>(addresses[0]);
  v4.sin_family = AF_INET;
  v4.sin_port = port;
  return addresses;
}

bool Contains(const Addresses& addresses, const sockaddr_storage& address) {
  for (const sockaddr_storage& other : addresses) {
    if (std::memcmp(&other, &address, sizeof(address)) == 0) return true;
  }
  return false;
}

absl::StatusOr<Addresses> Resolve(const std::string& host, const std::string& port) {
  const addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) return absl::UnavailableError(gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  Addresses addresses;
  for (const addrinfo* info = found; info != nullptr; info = info->ai_next) {
    sockaddr_storage address = {};
    if (info->ai_addrlen > sizeof(address)) continue;
    std::memcpy(&address, info->ai_addr, info->ai_addrlen);
    if (!Contains(addresses, address)) addresses.push_back(address);
  }
  return addresses;
}

// Listens at each address. NOT_FOUND: the machine has none of the addresses.
absl::StatusOr<std::vector<Listener>> ListenAtEach(Addresses addresses, const ListenerOptions& options) {
  std::vector<Listener> listeners;
  absl::Status missing = absl::NotFoundError("the host has no address");
  for (sockaddr_storage& address : addresses) {
    if (MutablePort(address) == 0 && !listeners.empty()) MutablePort(address) = htons(listeners[0].port());
    absl::StatusOr<Listener> listener = Listener::Open(address, options);
    if (listener.ok()) {
      listeners.push_back(*std::move(listener));
    } else if (absl::IsNotFound(listener.status())) {
      missing = listener.status();
    } else {
      return listener.status();
    }
  }
  if (listeners.empty()) return missing;
  return listeners;
}

absl::StatusOr<std::vector<Listener>> ListenAtAnyPort(const Addresses& addresses, const ListenerOptions& options) {
  absl::StatusOr<std::vector<Listener>> listeners = ListenAtEach(addresses, options);
  for (int attempt = 1; attempt < kPortAttempts && absl::IsUnavailable(listeners.status()); ++attempt) {
    listeners = ListenAtEach(addresses, options);
  }
  return listeners;
}

}  // namespace

absl::StatusOr<Listener> Listener::Open(const sockaddr_storage& address, const ListenerOptions& options) {
  Listener listener(address, options);
  RETURN_IF_ERROR(listener.Listen());
  return listener;
}

absl::Status Listener::Listen() {
  Socket socket(::socket(address_.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return SystemError("socket");
  SetOptions(socket.fd(), address_.ss_family, options_);
  if (bind(socket.fd(), reinterpret_cast<const sockaddr*>(&address_), AddressLength(address_)) != 0) {
    return SystemError("bind");
  }
  if (listen(socket.fd(), kBacklog) != 0) return SystemError("listen");
  socklen_t size = sizeof(address_);
  if (getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&address_), &size) != 0) return SystemError("getsockname");
  file_ = ReadFileId(socket.fd()).value_or(FileId());
  socket_ = std::move(socket);
  return absl::OkStatus();
}

int Listener::port() const {
  sockaddr_storage address = address_;
  return ntohs(MutablePort(address));
}

bool Listener::IsListening() const {
  if (!socket_.is_open() || ReadFileId(socket_.fd()) != file_) return false;
  int listens = 0;
  socklen_t size = sizeof(listens);
  return getsockopt(socket_.fd(), SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0;
}

absl::Status Listener::Reopen() {
  // A descriptor that now refers to another file must not be closed here.
  if (socket_.is_open() && ReadFileId(socket_.fd()) != file_) socket_.Release();
  socket_.Close();
  return Listen();
}

absl::StatusOr<std::vector<Listener>> ListenAt(const std::string& address, const ListenerOptions& options) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return absl::UnavailableError("not of the form HOST:PORT");
  std::string host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  ASSIGN_OR_RETURN(Addresses addresses, Resolve(host, address.substr(colon + 1)));
  if (host != "0.0.0.0" && host != "::") {
    absl::StatusOr<std::vector<Listener>> listeners = ListenAtAnyPort(addresses, options);
    if (listeners.ok() || absl::IsUnavailable(listeners.status())) return listeners;
    return absl::UnavailableError(listeners.status().message());
  }
  const in_port_t port = MutablePort(addresses.at(0));
  absl::StatusOr<std::vector<Listener>> listeners = ListenAtEach(EveryAddress(port), options);
  if (absl::IsNotFound(listeners.status())) return ListenAtEach(EveryV4Address(port), options);
  return listeners;
}

}  // namespace telemetry::net
