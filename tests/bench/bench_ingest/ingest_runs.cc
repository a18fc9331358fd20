#include "tests/bench/bench_ingest/ingest_runs.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/barrier.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/time/clock.h"
#include "client/producer.h"
#include "tests/bench/bench_ingest/collector_process.h"

namespace telemetry::bench {
namespace {

constexpr int kPacedProducers = 8;

void Require(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::abort();
}

// Gives this thread, and the threads that it starts, the lowest scheduling priority (SCHED_IDLE). The producers
// represent other machines, but here they share the cores of the collector. At normal priority, more producer threads
// would leave less CPU time to the collector.
void StandBack() {
  const sched_param none = {};
  if (sched_setscheduler(0, SCHED_IDLE, &none) != 0) std::perror("bench-ingest: sched_setscheduler");
}

std::unique_ptr<client::Producer> OpenProducer(const std::string& collector, const std::string& spool,
                                               std::function<void(uint64_t)> on_committed = nullptr) {
  auto producer = client::Producer::Open({
      .collector = collector,
      .spool_dir = spool,
      .client_name = "bench-ingest",
      .on_notice = [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); },
      .on_refused = [](const v1::Ack::Refused& refused) { Require(absl::InternalError(refused.message())); },
      .on_committed = std::move(on_committed),
  });
  Require(producer.status());
  return *std::move(producer);
}

// Returns the records that producer `number` of all producers appends, attempt by attempt. A producer alternates
// between its runs, so that the collector receives all runs at the same time with any number of producers: the
// benchmark compares numbers of producers, not orders of rows that suit the database more or less.
std::vector<std::vector<v1::Record>> MakeShare(const Workload& workload, const Throughput& options, int number) {
  std::vector<std::vector<v1::Record>> share;
  std::vector<std::vector<bool>> named(Workload::kRuns);
  const uint64_t rows_of_run = Workload::RowsOfRun(options.rows, 0);  // run 0 has the most
  for (uint64_t done = 0; done < rows_of_run; done += Workload::kRowsPerAttempt) {
    for (int run = number; run < Workload::kRuns; run += options.producers) {
      const uint64_t all = Workload::RowsOfRun(options.rows, run);
      if (done >= all) continue;
      workload.MakeAttempt(run, options.first_attempt + done / Workload::kRowsPerAttempt, all - done,
                           &named[static_cast<size_t>(run)], &share.emplace_back());
    }
  }
  return share;
}

void Stop(CollectorProcess* collector) {
  if (const int status = collector->Stop(); status != 0) {
    Require(absl::InternalError(absl::StrCat("the collector ended with status ", status)));
  }
}

// Appends a producer's share of the paced rows, each at its scheduled time, and records the time of each Append.
class PacedProducer {
 public:
  PacedProducer(const Workload& workload, int number, uint64_t attempt, uint64_t rows, absl::Duration interval)
      : workload_(workload), number_(number), attempt_(attempt), rows_(rows), interval_(interval) {}

  void Open(const std::string& collector, const std::string& spool) {
    producer_ = OpenProducer(collector, spool, [this](uint64_t committed_seq) { Committed(committed_seq); });
    // Sends the run and its configs before the clock starts.
    std::vector<v1::Record> head(2 + workload_.configs(number_).size());
    *head[0].mutable_run() = Workload::BuildRun(number_);
    *head[1].mutable_attempt() = Workload::BuildAttempt(number_, attempt_);
    for (size_t i = 0; i < workload_.configs(number_).size(); ++i)
      *head[2 + i].mutable_config() = workload_.configs(number_)[i];
    head_records_ = head.size();
    appended_.resize(rows_);
    latencies_ms_.reserve(rows_);
    Require(producer_->AppendBatch(head));
    Require(producer_->Drain(absl::Minutes(1)));
  }

  void Run(absl::Time begin) {
    v1::Record record;
    record.mutable_measurement()->set_attempt_id(Workload::BuildAttempt(number_, attempt_).attempt_id());
    for (uint64_t i = 0; i < rows_; ++i) {
      absl::SleepFor(begin + static_cast<double>(i) * interval_ - absl::Now());
      workload_.FillRow(number_, attempt_, i, record.mutable_measurement());
      appended_[i] = absl::Now();
      Require(producer_->Append(record));
    }
    Require(producer_->Drain(absl::Minutes(1)));
  }

  // Returns the latencies of all rows, in milliseconds. Valid after Run.
  const std::vector<double>& latencies_ms() const { return latencies_ms_; }

 private:
  // Called by the delivery thread. Append times are set before the thread reads the records from the spool.
  void Committed(uint64_t committed_seq) {
    const absl::Time now = absl::Now();
    while (latencies_ms_.size() + head_records_ < committed_seq) {
      latencies_ms_.push_back(absl::ToDoubleMilliseconds(now - appended_[latencies_ms_.size()]));
    }
  }

  const Workload& workload_;
  const int number_;
  const uint64_t attempt_;
  const uint64_t rows_;
  const absl::Duration interval_;
  std::atomic<size_t> head_records_ = 0;
  std::vector<absl::Time> appended_;
  std::vector<double> latencies_ms_;
  std::unique_ptr<client::Producer> producer_;  // last, because its thread uses the other members
};

double Percentile(const std::vector<double>& sorted, double share) {
  return sorted.empty() ? 0 : sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))];
}

}  // namespace

ThroughputResult MeasureThroughput(const Workload& workload, const Throughput& options) {
  std::vector<CollectorProcess> collectors;
  for (int i = 0; i < (options.address.empty() ? options.collectors : 0); ++i) {
    collectors.push_back(
        CollectorProcess::Start(options.db, {.log = absl::StrCat(options.folder, "/collector-", i, ".log")}));
  }
  absl::Barrier* const ready = new absl::Barrier(options.producers + 1);
  absl::BlockingCounter acknowledged(options.producers);
  std::vector<std::thread> threads;
  for (int i = 0; i < options.producers; ++i) {
    threads.emplace_back([&, i] {
      StandBack();
      const std::vector<std::vector<v1::Record>> share = MakeShare(workload, options, i);
      const std::string& address =
          collectors.empty() ? options.address : collectors[static_cast<size_t>(i % options.collectors)].address();
      const auto producer = OpenProducer(address, absl::StrCat(options.spool_folder, "/spool-", i));
      if (ready->Block()) delete ready;
      for (const std::vector<v1::Record>& attempt : share) Require(producer->AppendBatch(attempt));
      Require(producer->Drain(absl::Minutes(10)));
      acknowledged.DecrementCount();
    });
  }
  const auto used = [&] {
    ThroughputResult cpu{.producers_cpu_s = CpuSeconds(getpid()), .server_cpu_s = options.server_cpu_s()};
    for (const CollectorProcess& collector : collectors) cpu.collectors_cpu_s += CpuSeconds(collector.pid());
    return cpu;
  };
  if (ready->Block()) delete ready;
  const ThroughputResult before = used();
  const absl::Time begin = absl::Now();
  acknowledged.Wait();
  const double seconds = absl::ToDoubleSeconds(absl::Now() - begin);
  ThroughputResult result = used();
  result.rows_per_s = static_cast<double>(options.rows) / seconds;
  result.collectors_cpu_s -= before.collectors_cpu_s;
  result.producers_cpu_s -= before.producers_cpu_s;
  result.server_cpu_s -= before.server_cpu_s;
  for (std::thread& thread : threads) thread.join();
  for (CollectorProcess& collector : collectors) Stop(&collector);
  return result;
}

PacedResult MeasurePaced(const Workload& workload, const Paced& options) {
  std::optional<CollectorProcess> collector;
  if (options.address.empty()) collector.emplace(CollectorProcess::Start(options.folder + "/dataset.db"));
  const auto rows = static_cast<uint64_t>(options.rows_per_s * options.seconds / kPacedProducers);
  std::vector<std::unique_ptr<PacedProducer>> producers;
  for (int i = 0; i < kPacedProducers; ++i) {
    producers.push_back(std::make_unique<PacedProducer>(workload, i, options.first_attempt, rows,
                                                        absl::Seconds(kPacedProducers / options.rows_per_s)));
    producers.back()->Open(collector.has_value() ? collector->address() : options.address,
                           absl::StrCat(options.folder, "/spool-", i));
  }
  PacedResult result;
  std::atomic<bool> done = false;
  std::thread watch([&] {
    while (!done) {
      if (collector.has_value()) result.rss_mib = std::max(result.rss_mib, ResidentMib(collector->pid()));
      absl::SleepFor(absl::Milliseconds(100));
    }
  });
  const double cpu_before = collector.has_value() ? CpuSeconds(collector->pid()) : 0;
  const absl::Time begin = absl::Now();
  std::vector<std::thread> threads;
  for (int i = 0; i < kPacedProducers; ++i) {
    // The producers are out of phase with each other, like separate machines.
    const absl::Duration shift = absl::Seconds(i / options.rows_per_s);
    threads.emplace_back([&, i, shift] { producers[i]->Run(begin + shift); });
  }
  for (std::thread& thread : threads) thread.join();
  const double elapsed = absl::ToDoubleSeconds(absl::Now() - begin);
  if (collector.has_value()) result.cpu_cores = (CpuSeconds(collector->pid()) - cpu_before) / elapsed;
  done = true;
  watch.join();
  std::vector<double> latencies_ms;
  for (const auto& producer : producers) {
    latencies_ms.insert(latencies_ms.end(), producer->latencies_ms().begin(), producer->latencies_ms().end());
  }
  std::sort(latencies_ms.begin(), latencies_ms.end());
  result.rows_per_s = static_cast<double>(rows) * kPacedProducers / elapsed;
  result.p50_ms = Percentile(latencies_ms, 0.50);
  result.p99_ms = Percentile(latencies_ms, 0.99);
  producers.clear();
  if (collector.has_value()) Stop(&*collector);
  return result;
}

}  // namespace telemetry::bench
