#include "tests/faults/attacks/idle_clients.h"

#include "absl/time/clock.h"
#include "tests/faults/attacks/messages.h"

namespace telemetry::faults {

IdleClient MakeIdleClient(int port, int number, uint32_t host) {
  IdleClient client{static_cast<IdleClient::Kind>(number % IdleClient::kKinds), RawConnection(port, host)};
  RawConnection& connection = client.connection;
  if (client.kind == IdleClient::kSlowPreface) client.rest = RawConnection::Preface();
  if (client.kind <= IdleClient::kSlowPreface) return client;
  connection.SendPreface(client.kind == IdleClient::kDeaf ? 0 : 65535);
  if (client.kind == IdleClient::kNoCall) return client;
  connection.StartCall(1, kStream);
  const std::string open = http2::GrpcMessage(OpenMessage(ProducerId(number)));
  client.rest = client.kind == IdleClient::kSlowOpen ? open : http2::GrpcMessage(std::string(1000, 'x'));
  if (client.kind > IdleClient::kSlowOpen) connection.SendData(1, open);
  return client;
}

void Tick(std::vector<IdleClient>& clients, absl::Time begin, absl::Duration period) {
  constexpr int kAtATime = 8;
  int count = 0;
  for (IdleClient& client : clients) {
    if (++count % kAtATime == 0) absl::SleepFor(period * kAtATime / clients.size());
    if (client.closed_after) continue;
    if (!client.rest.empty()) {
      const std::string byte = client.rest.substr(0, 1);
      client.kind == IdleClient::kSlowPreface ? client.connection.SendRaw(byte) : client.connection.SendData(1, byte);
      client.rest.erase(0, 1);
    }
    if (client.connection.AwaitEnd(1, absl::ZeroDuration())) client.closed_after = absl::Now() - begin;
  }
}

}  // namespace telemetry::faults
