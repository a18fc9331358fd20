// Attacks with batches of the most expensive records.

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>

#include <atomic>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/record/ids.h"
#include "server/storage/record_sizes.h"
#include "tests/faults/attacks/attack.h"
#include "tests/faults/attacks/messages.h"
#include "tests/faults/attacks/unary_producer.h"

namespace telemetry::faults {
namespace {

constexpr int kThreads = 4;
// The same texts are sent again after this many bytes, so that a long attack does not fill the disk of the test
// machine.
constexpr uint64_t kDistinctBytes = uint64_t{1} << 30;

// Sends batches repeatedly as several producers. `make_batch` receives a different number each time.
void SendBatches(const Target& target, uint64_t batch_bytes,
                 const std::function<std::vector<std::string>(uint64_t)>& make_batch) {
  const uint64_t distinct = kDistinctBytes / batch_bytes;
  std::deque<UnaryProducer> producers;
  for (int i = 0; i < kThreads; ++i) {
    producers.emplace_back(target.address(), ProducerId(static_cast<int>(target.host) * 1000 + i));
    while (!producers.back().Send({Attempt()})) absl::SleepFor(absl::Milliseconds(100));
  }
  std::atomic<uint64_t> next = 0;
  ForEver(kThreads, [&](int i) {
    const std::vector<std::string> records = make_batch(next++ % distinct);
    if (producers[static_cast<size_t>(i)].SendBytes(records)) target.tally.Add(records.size());
  });
}

// Sends bytes that are not a record; the collector stores them as rejects.
void SendUnreadableRecords(const Target& target) {
  constexpr uint64_t kBytes = 7 << 20;
  SendBatches(target, kBytes, [](uint64_t number) {
    return std::vector<std::string>{absl::StrCat("\x07", DistinctText(number, kBytes))};
  });
}

// Sends graphs that are below the size limit of a record and need 128 MiB when parsed.
void SendHeavyGraphs(const Target& target) {
  v1::Record graph;
  graph.mutable_ir_graph()->set_run_id(std::string(64, 'a'));
  graph.mutable_ir_graph()->set_kind("device");
  for (int i = 0; i < 800'000; ++i) {
    v1::IrEdge& edge = *graph.mutable_ir_graph()->add_edges();
    edge.set_source("a");
    edge.set_target("b");
  }
  const std::vector<std::string> batch = {graph.SerializeAsString()};
  SendBatches(target, batch[0].size(), [&](uint64_t /*number*/) { return batch; });
}

// Sends the largest graphs that are stored.
void SendLargestGraphs(const Target& target) {
  v1::Record largest;
  largest.mutable_ir_graph()->set_run_id(std::string(64, 'a'));
  largest.mutable_ir_graph()->set_kind("device");
  for (int i = 0; i < 30'000; ++i) largest.mutable_ir_graph()->add_nodes()->set_id(absl::StrCat("node ", i));
  SendBatches(target, largest.ByteSizeLong(), [&](uint64_t number) {
    v1::Record graph = largest;
    graph.mutable_ir_graph()->set_run_id(record::Sha256Hex(absl::StrCat(number)));
    return std::vector<std::string>{graph.SerializeAsString()};
  });
}

void SendRowsWithStatuses(const Target& target, size_t status_bytes, uint64_t rows) {
  SendBatches(target, status_bytes * rows, [=](uint64_t number) {
    std::vector<std::string> batch;
    for (uint64_t i = number * rows; i < (number + 1) * rows; ++i) {
      batch.push_back(RowWithStatus(i + 1, DistinctText(i, status_bytes)).SerializeAsString());
    }
    return batch;
  });
}

void SendHugeStatuses(const Target& target) { SendRowsWithStatuses(target, 6 << 20, 1); }

// Sends the largest statuses that are stored.
void SendLargestStatuses(const Target& target) { SendRowsWithStatuses(target, 4000, FullSize() ? 1'900 : 250); }

void SendLargeConfigs(const Target& target) {
  constexpr uint64_t kArgumentBytes = 60'000;
  const uint64_t configs = FullSize() ? 128 : 16;
  SendBatches(target, kArgumentBytes * configs, [=](uint64_t number) {
    std::vector<std::string> batch;
    for (uint64_t i = number * configs; i < (number + 1) * configs; ++i) {
      v1::Record record;
      record.mutable_config()->set_config_id(i + 1);
      record.mutable_config()->set_text(absl::StrCat("Config(x='", DistinctText(i, kArgumentBytes), "')"));
      batch.push_back(record.SerializeAsString());
    }
    return batch;
  });
}

// Sends attempts that each supersede the maximum number of other attempts.
void SendSupersedes(const Target& target) {
  constexpr uint64_t kIds = storage::kMaxSuperseded;
  constexpr uint64_t kIdBytes = 16;
  constexpr uint64_t kAttempts = 16;
  SendBatches(target, kAttempts * kIds * kIdBytes, [](uint64_t number) {
    std::vector<std::string> batch;
    for (uint64_t i = number * kAttempts; i < (number + 1) * kAttempts; ++i) {
      v1::Record record = Attempt();
      record.mutable_attempt()->set_attempt_id(record::Sha256(absl::StrCat(i)).substr(0, kIdBytes));
      record.mutable_attempt()->set_provisional(true);
      for (uint64_t id = 0; id < kIds; ++id) {
        record.mutable_attempt()->add_supersedes(record::Sha256(absl::StrCat(i, "-", id)).substr(0, kIdBytes));
      }
      batch.push_back(record.SerializeAsString());
    }
    return batch;
  });
}

// Opens producers, each time with a new id.
void OpenProducers(const Target& target) {
  std::atomic<int> next = 0;
  const auto channel = grpc::CreateChannel(target.address(), grpc::InsecureChannelCredentials());
  const auto stub = v1::IngestService::NewStub(channel);
  ForEver(16, [&](int /*i*/) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Minutes(2)));
    v1::IngestRequest request;
    request.mutable_open()->set_producer_id(ProducerId(1'000'000 + next++));
    request.mutable_open()->set_client(std::string(1000, 'c'));
    v1::IngestResponse response;
    if (stub->Ingest(&context, request, &response).ok()) target.tally.Add();
  });
}

}  // namespace

std::vector<Attack> RecordAttacks() {
  return {{"unreadable_records", "records", SendUnreadableRecords},
          {"heavy_graphs", "records", SendHeavyGraphs},
          {"largest_graphs", "records", SendLargestGraphs},
          {"huge_statuses", "records", SendHugeStatuses},
          {"largest_statuses", "records", SendLargestStatuses},
          {"large_configs", "records", SendLargeConfigs},
          {"supersedes", "records", SendSupersedes},
          {"empty_producers", "calls", OpenProducers}};
}

}  // namespace telemetry::faults
