#include "server/net/network.h"

#include <arpa/inet.h>

#include <cstring>

namespace telemetry::net {
namespace {

constexpr size_t kV4Bytes = sizeof(in_addr);
// The offset of the IPv4 address in an IPv6 address that maps it.
constexpr size_t kMappedAt = sizeof(in6_addr) - kV4Bytes;

}  // namespace

Network Network::Of(const sockaddr_storage& address) {
  Network network;
  if (address.ss_family == AF_INET) {
    network.family_ = AF_INET;
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    std::memcpy(network.bytes_.data(), &v4.sin_addr, kV4Bytes);
  } else if (address.ss_family == AF_INET6) {
    return OfV6(reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
  }
  return network;
}

Network Network::OfV6(const in6_addr& address) {
  Network network;
  if (IN6_IS_ADDR_V4MAPPED(&address) != 0) {
    network.family_ = AF_INET;
    std::memcpy(network.bytes_.data(), &address.s6_addr[kMappedAt], kV4Bytes);
  } else {
    network.family_ = AF_INET6;
    std::memcpy(network.bytes_.data(), &address, network.bytes_.size());
  }
  return network;
}

uint32_t Network::word(size_t index) const {
  uint32_t word = 0;
  std::memcpy(&word, bytes_.data() + index * sizeof(word), sizeof(word));
  return ntohl(word);
}

Peer Peer::Of(const sockaddr_storage& address) {
  const bool is_v6 = address.ss_family == AF_INET6;
  const in_port_t port = is_v6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                               : reinterpret_cast<const sockaddr_in&>(address).sin_port;
  return {.network = Network::Of(address), .port = ntohs(port)};
}

std::string Network::ToString() const {
  if (family_ == AF_UNSPEC) return "unknown";
  std::array<char, INET6_ADDRSTRLEN> text = {};
  in6_addr whole = {};
  std::memcpy(&whole, bytes_.data(), bytes_.size());
  inet_ntop(family_, &whole, text.data(), text.size());
  return std::string(text.data()) + (family_ == AF_INET6 ? "/64" : "");
}

}  // namespace telemetry::net
