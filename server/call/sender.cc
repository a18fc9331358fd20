#include "server/call/sender.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "proto/record/strings.h"

namespace telemetry::call {
namespace {

using record::AbslView;

template <typename Address>
net::Peer ToPeer(const Address& address) {
  sockaddr_storage storage = {};
  std::memcpy(&storage, &address, sizeof(address));
  return net::Peer::Of(storage);
}

}  // namespace

std::string SenderName(const access::Caller& caller) {
  return caller.name.empty() ? NetworkOfPeer(caller.peer) : absl::StrCat("token ", caller.name);
}

std::optional<net::Peer> ParsePeer(std::string_view peer) {
  const size_t scheme_end = peer.find(':');
  const size_t port_begin = peer.rfind(':');
  uint32_t port = 0;
  if (scheme_end == port_begin || !absl::SimpleAtoi(AbslView(peer.substr(port_begin + 1)), &port)) return std::nullopt;
  const std::string_view host = peer.substr(scheme_end + 1, port_begin - scheme_end - 1);
  const std::string address = absl::StrReplaceAll(AbslView(host), {{"%5B", ""}, {"%5D", ""}, {"[", ""}, {"]", ""}});
  sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(static_cast<uint16_t>(port))};
  if (inet_pton(AF_INET, address.c_str(), &v4.sin_addr) == 1) return ToPeer(v4);
  sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(static_cast<uint16_t>(port))};
  if (inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr) == 1) return ToPeer(v6);
  return std::nullopt;
}

std::string NetworkOfPeer(std::string_view peer) {
  const std::optional<net::Peer> parsed = ParsePeer(peer);
  return parsed.has_value() ? parsed->network.ToString() : std::string(peer);
}

}  // namespace telemetry::call
