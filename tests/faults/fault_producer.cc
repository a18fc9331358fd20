// fault-producer COLLECTOR SPOOL LEDGER NUMBER STOP_FILE PAUSE_MS [attempts]: appends the records of producer NUMBER
// (ledger.h, or with `attempts` attempts_log.h), ten at a time with a pause after them, until STOP_FILE exists, then
// waits until all are acknowledged. After a kill, the same
// command continues at the end of its spool. Exit status 0: all records are acknowledged. 3: the spool lost records
// that Append had accepted. 1: any other error.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "client/producer.h"
#include "tests/environment.h"
#include "tests/faults/attempts_log.h"
#include "tests/faults/ledger.h"

namespace telemetry::faults {
namespace {

constexpr int kRecordsPerBatch = 10;

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "fault-producer: %s\n", status.ToString().c_str());
  return 1;
}

// Notes the times from Append to the acknowledgements. Thread-safe.
class AckTimer {
 public:
  explicit AckTimer(Ledger& ledger) : ledger_(ledger) {}

  // Called before the records up to `seq` are appended.
  void Appends(uint64_t seq) {
    absl::MutexLock lock(&mutex_);
    appended_.emplace_back(seq, absl::Now());
  }
  void Acked(uint64_t seq) {
    absl::MutexLock lock(&mutex_);
    for (; !appended_.empty() && appended_.front().first <= seq; appended_.pop_front()) {
      ledger_.Took(static_cast<uint64_t>(absl::ToInt64Microseconds(absl::Now() - appended_.front().second)));
    }
  }

 private:
  Ledger& ledger_;
  absl::Mutex mutex_;
  std::deque<std::pair<uint64_t, absl::Time>> appended_ ABSL_GUARDED_BY(mutex_);
};

int Run(const std::string& collector, const std::string& spool, const std::string& ledger_path, int number,
        const std::string& stop_file, absl::Duration pause, bool many_attempts) {
  const Ledger::Promises promised = Ledger::Read(ledger_path);
  Ledger ledger(ledger_path);
  AckTimer timer(ledger);
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
      .on_committed =
          [&](uint64_t seq) {
            ledger.Acked(seq);
            timer.Acked(seq);
          },
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
    for (int i = 0; i < kRecordsPerBatch; ++i) {
      ++seq;
      batch.push_back(many_attempts ? MakeAttemptsRecord(number, seq) : MakeRecord(number, seq));
    }
    timer.Appends(seq);
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
  const bool many_attempts = argc == 8 && argv[7] == std::string_view("attempts");
  if (argc != 7 && !many_attempts) return 2;
  return telemetry::faults::Run(argv[1], argv[2], argv[3], std::atoi(argv[4]), argv[5],
                                absl::Milliseconds(std::atoi(argv[6])), many_attempts);
}
