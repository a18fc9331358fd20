// fault-producer COLLECTOR SPOOL LEDGER NUMBER STOP_FILE PAUSE_MS: appends the records of producer NUMBER, ten at a
// time with a pause after them, until STOP_FILE exists, then waits until all are acknowledged. After a kill, the same
// command continues at the end of its spool. Exit status 0: all records are acknowledged. 3: the spool lost records
// that Append had accepted. 1: any other error.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "client/producer.h"
#include "tests/environment.h"
#include "tests/faults/ledger.h"

namespace telemetry::faults {
namespace {

constexpr int kRecordsPerBatch = 10;

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "fault-producer: %s\n", status.ToString().c_str());
  return 1;
}

int Run(const std::string& collector, const std::string& spool, const std::string& ledger_path, int number,
        const std::string& stop_file, absl::Duration pause) {
  const Ledger::Promises promised = Ledger::Read(ledger_path);
  Ledger ledger(ledger_path);
  auto producer = client::Producer::Open({
      .collector = collector,
      .spool_dir = spool,
      .client_name = "fault-producer",
      .retry_cap = absl::Milliseconds(50),
      .on_notice = nullptr,
      .on_refused =
          [](const v1::Ack::Refused& refused) {
            std::fprintf(stderr, "fault-producer: refused: %s\n", refused.message().c_str());
            std::_Exit(1);
          },
      .on_committed = [&ledger](uint64_t seq) { ledger.Acked(seq); },
  });
  if (!producer.ok()) return Fail(producer.status());
  uint64_t seq = (*producer)->stats().appended_seq;
  if (seq < promised.accepted) {
    std::fprintf(stderr, "fault-producer: %zu records were accepted, the spool has %zu\n",
                 static_cast<size_t>(promised.accepted), static_cast<size_t>(seq));
    return 3;
  }
  while (::access(stop_file.c_str(), F_OK) != 0) {
    std::vector<v1::Record> batch;
    for (int i = 0; i < kRecordsPerBatch; ++i) batch.push_back(MakeRecord(number, ++seq));
    if (absl::Status status = (*producer)->AppendBatch(batch); !status.ok()) return Fail(status);
    ledger.Accepted(seq);
    absl::SleepFor(pause);
  }
  const absl::Status drained =
      (*producer)->Drain(absl::Minutes(1 + Faults() / 20));  // there may be millions of records
  return drained.ok() ? 0 : Fail(drained);
}

}  // namespace
}  // namespace telemetry::faults

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  return telemetry::faults::Run(argv[1], argv[2], argv[3], std::atoi(argv[4]), argv[5],
                                absl::Milliseconds(std::atoi(argv[6])));
}
