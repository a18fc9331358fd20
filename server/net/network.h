#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace telemetry::net {

// The unit by which limits count peers: an IPv4 address, or the /64 of an IPv6 address, because one host usually owns
// an entire /64. An IPv4 address mapped into IPv6 counts as the IPv4 address.
class Network {
 public:
  // Returns the network "unknown" for an address that is neither IPv4 nor IPv6.
  static Network Of(const sockaddr_storage& address);

  bool is_v4() const { return family_ == AF_INET; }
  bool is_v6() const { return family_ == AF_INET6; }
  // Returns four bytes of the address, as a number of the machine: an IPv4 address has word 0, a /64 has words 0 and 1.
  uint32_t word(size_t index) const;

  // Returns "192.0.2.7", "2001:db8::/64" or "unknown".
  std::string ToString() const;

  friend bool operator==(const Network&, const Network&) = default;
  template <typename Hash>
  friend Hash AbslHashValue(Hash hash, const Network& network) {
    return Hash::combine(std::move(hash), network.family_, network.bytes_);
  }

 private:
  static Network OfV6(const in6_addr& address);

  sa_family_t family_ = AF_UNSPEC;
  std::array<uint8_t, 8> bytes_ = {};
};

// The client's end of a connection.
struct Peer {
  Network network;
  uint16_t port = 0;

  static Peer Of(const sockaddr_storage& address);

  friend bool operator==(const Peer&, const Peer&) = default;
  template <typename Hash>
  friend Hash AbslHashValue(Hash hash, const Peer& peer) {
    return Hash::combine(std::move(hash), peer.network, peer.port);
  }
};

}  // namespace telemetry::net
