// Attacks with connections and calls that send little or nothing.

#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "tests/faults/attacks/attack.h"
#include "tests/faults/attacks/flood.h"
#include "tests/faults/attacks/idle_clients.h"
#include "tests/faults/attacks/messages.h"
#include "tests/faults/attacks/raw_http2.h"

namespace telemetry::faults {
namespace {

constexpr uint32_t kGoodHost = 1;  // the address of the well-behaved clients

int Scaled(int full, int less) { return FullSize() ? full : less; }

// Returns the time for which connections stay open before new ones replace them.
absl::Duration Stay() { return FullSize() ? absl::Seconds(3) : absl::Milliseconds(300); }

// Opens, within 1.5 s, more connections than the collector may open files.
void PlayFlood(const Target& target, uint32_t host, const std::string& words) {
  constexpr int kParts = 10;
  const int connections = Scaled(12'000, 2'400);
  Flood flood(target.port, host, words);
  for (int i = 0; i < kParts; ++i) {
    flood.Connect(connections / kParts);
    target.tally.Add(connections / kParts);
    absl::SleepFor(Stay() / (2 * kParts));
  }
  absl::SleepFor(Stay());
}

// Attacks from the address of the well-behaved clients.
void FloodSilently(const Target& target) {
  while (true) PlayFlood(target, kGoodHost, "");
}

void FloodTalking(const Target& target) {
  while (true) {
    PlayFlood(target, target.host, RawConnection::Preface());
    absl::SleepFor(Stay());
  }
}

void FloodMetricsPort(const Target& target) {
  const int connections = Scaled(1'000, 100);
  while (true) {
    for (const char* words : {"", "GET /metrics HTTP/1.1\r\nx: ", "GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n"}) {
      Flood flood(target.metrics_port, target.host, words);
      flood.Connect(connections);
      target.tally.Add(connections);
      absl::SleepFor(Stay() / 3);
    }
  }
}

std::vector<RawConnection> Connect(const Target& target, int count) {
  std::vector<RawConnection> open;
  for (int i = 0; i < count; ++i) open.emplace_back(target.port, target.host);
  return open;
}

// Starts `calls` calls on each connection and then waits. `message` contains the DATA bytes of each call.
void HoldCalls(const Target& target, std::vector<RawConnection>& open, uint32_t calls, const std::string& method,
               const std::string& message) {
  for (uint32_t call = 0; call < calls; ++call) {
    for (RawConnection& connection : open) {
      connection.StartCall(2 * call + 1, method);
      if (connection.SendData(2 * call + 1, message, absl::ZeroDuration())) target.tally.Add();
    }
  }
  absl::SleepFor(Stay());
}

void HoldWatches(const Target& target) {
  while (true) {
    std::vector<RawConnection> open = Connect(target, Scaled(1'000, 100));
    for (RawConnection& connection : open) connection.SendPreface();
    HoldCalls(target, open, 16, "/grpc.health.v1.Health/Watch", http2::GrpcMessage(""));
  }
}

const std::string kFirstByte(1, '\0');

// Sends incomplete unary calls. The collector's own code is called only when the message is complete; until then only
// the limits of the transport apply.
void TrickleCalls(const Target& target) {
  while (true) {
    std::vector<RawConnection> open = Connect(target, Scaled(400, 100));
    for (RawConnection& connection : open) connection.SendPreface();
    HoldCalls(target, open, 100, kIngest, kFirstByte);
  }
}

// Does the same without acknowledging SETTINGS. gRPC enforces its limit of calls per connection only after the client
// has acknowledged the collector's SETTINGS.
void TrickleCallsUnsettled(const Target& target) {
  while (true) {
    std::vector<RawConnection> open = Connect(target, Scaled(400, 100));
    for (RawConnection& connection : open) connection.SendRaw(RawConnection::Preface());
    HoldCalls(target, open, 100, kIngest, kFirstByte);
  }
}

// Sends all calls of a connection in one piece, so that gRPC reads them faster than the collector refuses them, and
// then replaces the connection.
void BurstCalls(const Target& target) {
  constexpr int kConnections = 100;
  constexpr uint32_t kCalls = 100;
  const std::string burst = RawConnection::CallBurst(kIngest, kCalls);
  while (true) {
    for (RawConnection& connection : Connect(target, kConnections)) {
      if (connection.SendRaw(burst)) target.tally.Add(kCalls);
    }
  }
}

// Cancels each call right after its headers, on connections that stay ("HTTP/2 rapid reset", CVE-2023-44487). No limit
// of concurrent calls is ever reached.
void ResetCalls(const Target& target) {
  constexpr uint32_t kCalls = 100;
  ForEver(16, [&](int /*i*/) {
    RawConnection connection(target.port, target.host);
    connection.SendPreface();
    uint32_t calls = 0;
    while (connection.SendRaw(RawConnection::ResetCalls(kIngest, calls, kCalls))) {
      calls += kCalls;
      target.tally.Add(kCalls);
    }
  });
}

// Sends frames that belong to no call as fast as possible. They need no flow-control window.
void SendEmptyFrames(const Target& target) {
  constexpr int kFrames = 10'000;
  std::string frames;
  for (int i = 0; i < kFrames; ++i)
    frames += http2::FrameBytes({.type = http2::kPriority, .stream = 1, .payload = std::string(5, '\0')});
  ForEver(16, [&](int /*i*/) {
    RawConnection connection(target.port, target.host);
    connection.SendPreface();
    while (connection.SendRaw(frames)) target.tally.Add(kFrames);
  });
}

// Runs idle, slow and deaf clients. Clients that the collector disconnects reconnect.
void StayIdle(const Target& target) {
  const int count = Scaled(1'000, 200);
  std::vector<IdleClient> clients;
  for (int i = 0; i < count; ++i) clients.push_back(MakeIdleClient(target.port, i, target.host));
  target.tally.Add(clients.size());
  while (true) {
    Tick(clients, absl::Now(), Stay() / 3);
    std::vector<IdleClient> next;
    for (IdleClient& client : clients) {
      if (client.closed_after) target.tally.Add();
      const int number = static_cast<int>(next.size());
      next.push_back(client.closed_after ? MakeIdleClient(target.port, number, target.host) : std::move(client));
    }
    clients.swap(next);
  }
}

}  // namespace

std::vector<Attack> ConnectionAttacks() {
  return {{"silent_connections", "connections", FloodSilently},
          {"talking_connections", "connections", FloodTalking},
          {"metrics_connections", "connections", FloodMetricsPort},
          {"health_watches", "calls", HoldWatches},
          {"trickling_calls", "calls", TrickleCalls},
          {"unsettled_calls", "calls", TrickleCallsUnsettled},
          {"call_bursts", "calls", BurstCalls},
          {"rapid_resets", "calls", ResetCalls},
          {"empty_frames", "frames", SendEmptyFrames},
          {"idle_clients", "connections", StayIdle}};
}

}  // namespace telemetry::faults
