#include "server/net/storm_filter.h"

#include <linux/filter.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>

namespace telemetry::net {
namespace {

// Offsets in the IP header: of the version, and of the source address.
constexpr uint32_t kVersionAt = static_cast<uint32_t>(SKF_NET_OFF);
constexpr uint32_t kV4SourceAt = static_cast<uint32_t>(SKF_NET_OFF) + 12;
constexpr uint32_t kV6SourceAt = static_cast<uint32_t>(SKF_NET_OFF) + 8;

constexpr uint32_t kDrop = 0;
constexpr uint32_t kAccept = UINT32_MAX;

// Classic BPF (linux/filter.h): an instruction, and a comparison of the loaded value that skips instructions.
sock_filter Do(uint16_t code, uint32_t value) { return {.code = code, .jt = 0, .jf = 0, .k = value}; }
sock_filter LoadWord(uint32_t offset) { return Do(BPF_LD | BPF_W | BPF_ABS, offset); }
sock_filter SkipUnlessEqual(uint32_t value, uint8_t skip) {
  return {.code = BPF_JMP | BPF_JEQ | BPF_K, .jt = 0, .jf = skip, .k = value};
}

// An IPv6 packet and an IPv4 packet may come to the same socket.
std::vector<sock_filter> Program(const std::vector<Network>& networks) {
  std::vector<sock_filter> program;
  const auto compare_v4 = [&] {
    program.push_back(LoadWord(kV4SourceAt));
    for (const Network& network : networks) {
      if (!network.is_v4()) continue;
      program.push_back(SkipUnlessEqual(network.word(0), 1));
      program.push_back(Do(BPF_RET | BPF_K, kDrop));
    }
    program.push_back(Do(BPF_RET | BPF_K, kAccept));
  };
  program.push_back(Do(BPF_LD | BPF_B | BPF_ABS, kVersionAt));
  program.push_back(Do(BPF_ALU | BPF_AND | BPF_K, 0xf0));
  // The jump of a comparison is at most 255 instructions long.
  program.push_back(SkipUnlessEqual(0x60, 1));
  const size_t jump = program.size();
  program.push_back(Do(BPF_JMP | BPF_JA, 0));
  compare_v4();
  program[jump].k = static_cast<uint32_t>(program.size() - jump - 1);
  for (const Network& network : networks) {
    if (!network.is_v6()) continue;
    program.push_back(LoadWord(kV6SourceAt));
    program.push_back(SkipUnlessEqual(network.word(0), 3));
    program.push_back(LoadWord(kV6SourceAt + 4));
    program.push_back(SkipUnlessEqual(network.word(1), 1));
    program.push_back(Do(BPF_RET | BPF_K, kDrop));
  }
  program.push_back(Do(BPF_RET | BPF_K, kAccept));
  return program;
}

}  // namespace

bool StormFilter::CountReset(const Network& network, SteadyTime now) {
  State& state = networks_[network];
  if (now < state.dropped_until) return false;
  if (now >= state.window_end) state = {.resets = 0, .window_end = now + absl::ToChronoNanoseconds(kWindow)};
  next_expiry_ = std::min(next_expiry_, state.window_end);
  if (++state.resets < kResets || dropped_ >= kMostDropped) return false;
  state.dropped_until = now + absl::ToChronoNanoseconds(kDropFor);
  state.window_end = state.dropped_until;
  ++dropped_;
  return true;
}

bool StormFilter::Expire(SteadyTime now) {
  if (now < next_expiry_) return false;
  next_expiry_ = kNever;
  const size_t before = dropped_;
  absl::erase_if(networks_, [&](const auto& network) {
    const bool is_over = network.second.window_end <= now;
    if (is_over && network.second.dropped_until != kLongAgo) --dropped_;
    if (!is_over) next_expiry_ = std::min(next_expiry_, network.second.window_end);
    return is_over;
  });
  return dropped_ != before;
}

std::vector<Network> StormFilter::dropped() const {
  std::vector<Network> networks;
  for (const auto& [network, state] : networks_) {
    if (state.dropped_until != kLongAgo) networks.push_back(network);
  }
  return networks;
}

bool DropPackets(int listener, const std::vector<Network>& networks) {
  int unused = 0;
  if (networks.empty()) return setsockopt(listener, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof(unused)) == 0;
  std::vector<sock_filter> program = Program(networks);
  const sock_fprog filter = {.len = static_cast<uint16_t>(program.size()), .filter = program.data()};
  if (setsockopt(listener, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) == 0) return true;
  setsockopt(listener, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof(unused));
  return false;
}

void AcceptPackets(int connection) {
  int unused = 0;
  setsockopt(connection, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof(unused));
}

}  // namespace telemetry::net
