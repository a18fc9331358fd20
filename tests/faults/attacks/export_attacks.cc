// Attacks with exports of large rows.

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>

#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "telemetry/v1/dataset.grpc.pb.h"
#include "tests/faults/attacks/attack.h"
#include "tests/faults/attacks/messages.h"
#include "tests/faults/attacks/raw_http2.h"
#include "tests/faults/attacks/unary_producer.h"

namespace telemetry::faults {
namespace {

// Stores rows with failure messages of the largest size that is stored.
void StoreLargeRows(const Target& target) {
  UnaryProducer producer(target.address(), ProducerId(static_cast<int>(target.host) * 1000));
  while (!producer.Send({Attempt()})) absl::SleepFor(absl::Milliseconds(100));
  const uint64_t rows = FullSize() ? 60 : 16;
  for (uint64_t i = 0; i < rows; ++i) {
    // The host makes the rows different from those of other attacks.
    v1::Record row = RowWithStatus((uint64_t{target.host} << 32) + i, "error");
    row.mutable_measurement()->mutable_failure()->set_message(std::string((1 << 20) - 1000, 'm'));
    while (!producer.Send({row})) absl::SleepFor(absl::Milliseconds(100));
  }
}

RawConnection BeginExport(const Target& target) {
  constexpr uint32_t kWindow = 1000;
  RawConnection connection(target.port, target.host);
  connection.SendPreface(kWindow);
  connection.StartCall(1, kExport);
  connection.SendData(1, http2::GrpcMessage(""));
  target.tally.Add();
  return connection;
}

// Starts exports that are read at 10 kB/s.
void ExportSlowly(const Target& target) {
  StoreLargeRows(target);
  constexpr int kClients = 64;
  std::vector<RawConnection> clients;
  for (int i = 0; i < kClients; ++i) clients.push_back(BeginExport(target));
  while (true) {
    absl::SleepFor(absl::Milliseconds(100));
    std::vector<RawConnection> still;
    for (RawConnection& client : clients) {
      const bool ended = client.AwaitEnd(1, absl::ZeroDuration()) || !client.AllowMore(1, 1000);
      still.push_back(ended ? BeginExport(target) : std::move(client));
    }
    clients.swap(still);
  }
}

// Starts exports that are read as fast as possible.
void ExportAll(const Target& target) {
  StoreLargeRows(target);
  ForEver(8, [&](int /*i*/) {
    const auto stub =
        v1::DatasetService::NewStub(grpc::CreateChannel(target.address(), grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    const auto reader = stub->Export(&context, {});
    v1::ExportItem item;
    while (reader->Read(&item)) target.tally.Add();
    if (!reader->Finish().ok()) absl::SleepFor(absl::Milliseconds(100));
  });
}

}  // namespace

std::vector<Attack> ExportAttacks() {
  return {{"slow_exports", "exports", ExportSlowly}, {"fast_exports", "items", ExportAll}};
}

}  // namespace telemetry::faults
