// Attacks with messages that are not batches of records, or that announce a false size.

#include <array>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "tests/faults/attacks/attack.h"
#include "tests/faults/attacks/gzip_bomb.h"
#include "tests/faults/attacks/messages.h"
#include "tests/faults/attacks/raw_http2.h"

namespace telemetry::faults {
namespace {

// Also counts calls that the collector ends before the message is sent completely.
void ThrowGzipBombs(const Target& target) {
  static constexpr std::array kMethods = {kStream, kIngest, "/telemetry.v1.DatasetService/ListRuns", kExport};
  const std::string bomb = http2::GrpcMessage(GzippedZeros(FullSize() ? size_t{1} << 30 : size_t{64} << 20), true);
  ForEver(static_cast<int>(kMethods.size()), [&](int i) {
    RawConnection connection(target.port, target.host);
    connection.SendPreface();
    connection.StartCall(1, kMethods.at(static_cast<size_t>(i)), {{"grpc-encoding", "gzip"}});
    connection.SendData(1, bomb);
    if (connection.AwaitEnd(1, absl::Seconds(10))) target.tally.Add();
  });
}

// gRPC trusts the announced length and continues to read.
void AnnounceTwoGigabytes(const Target& target) {
  const std::string begin = http2::GrpcMessageHead(uint32_t{1} << 31) + std::string(16 << 20, 'x');
  ForEver(64, [&](int i) {
    RawConnection connection(target.port, target.host);
    connection.SendPreface();
    connection.StartCall(1, i % 2 == 0 ? kStream : kIngest);
    connection.SendData(1, begin, absl::Seconds(1));
    target.tally.Add();
    connection.AwaitEnd(1, absl::Seconds(1));
  });
}

void LeaveMessagesUnfinished(const Target& target) {
  const std::string part = http2::GrpcMessageHead(8 << 20) + std::string((8 << 20) - 1, 'x');
  ForEver(64, [&](int /*i*/) {
    RawConnection connection(target.port, target.host);
    connection.SendPreface();
    for (uint32_t stream = 1; stream < 16; stream += 2) {
      connection.StartCall(stream, stream % 4 == 1 ? kStream : kIngest);
      connection.SendData(stream, part, absl::Seconds(1));
      target.tally.Add();
    }
  });
}

// Returns a graph of empty nodes: two bytes each when serialised, hundreds in memory.
std::string HollowRecord() {
  v1::Record record;
  for (int i = 0; i < 1'000'000; ++i) record.mutable_ir_graph()->add_nodes();
  return record.SerializeAsString();
}

void SendTinyRecords(const Target& target) {
  const std::array batches = {MakeBatch(1, "", 4'000'000), MakeBatch(1, "", 65536), MakeBatch(1, "x", 65536),
                              MakeBatch(1, HollowRecord(), 3)};
  std::vector<std::string> messages;
  for (const v1::Batch& batch : batches) messages.push_back(http2::GrpcMessage(BatchMessage(batch)));
  ForEver(16, [&](int i) {
    for (const std::string& message : messages) {
      RawConnection connection(target.port, target.host);
      connection.SendPreface();
      connection.StartCall(1, kStream);
      connection.SendData(1, http2::GrpcMessage(OpenMessage(ProducerId(static_cast<int>(target.host) * 1000 + i))));
      if (connection.SendData(1, message)) target.tally.Add();
      connection.AwaitEnd(1, absl::Seconds(1));
    }
  });
}

}  // namespace

std::vector<Attack> MessageAttacks() {
  return {{"gzip_bombs", "messages", ThrowGzipBombs},
          {"announced_lengths", "messages", AnnounceTwoGigabytes},
          {"unfinished_messages", "messages", LeaveMessagesUnfinished},
          {"tiny_records", "messages", SendTinyRecords}};
}

}  // namespace telemetry::faults
