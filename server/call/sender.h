#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/access/gate.h"
#include "server/net/network.h"

namespace telemetry::call {

// Returns the sender that a call is counted for: the name of its token or, without a token, the network of its address.
std::string SenderName(const access::Caller& caller);

// Parses a peer as gRPC formats it, "ipv4:192.0.2.7:4711" or "ipv6:%5B2001:db8::1%5D:4711". Returns nullopt for a peer
// of another kind.
std::optional<net::Peer> ParsePeer(std::string_view peer);

// Returns the network of such a peer: an IPv4 address or an IPv6 /64. Returns a peer of another kind unchanged.
std::string NetworkOfPeer(std::string_view peer);

}  // namespace telemetry::call
