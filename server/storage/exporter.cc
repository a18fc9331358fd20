#include "server/storage/exporter.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/record/ids.h"
#include "server/storage/transaction.h"

namespace telemetry::storage {
namespace {

constexpr int64_t kRunsPerPage = 100;
constexpr int64_t kRowsPerPage = 1000;
constexpr size_t kRunConfigsPerPage = 1000;
constexpr size_t kShortestPrefix = 4;
constexpr size_t kRunIdDigits = 64;

// Where an attempt's start is not known, the time when the collector first saw it counts.
int64_t BeganAt(const StoredAttempt& attempt) {
  const v1::AttemptSummary& summary = attempt.summary;
  return summary.attempt().has_started_unix_us() ? summary.attempt().started_unix_us()
                                                 : summary.first_received_unix_us();
}

// One attempt of several: the last to arrive (keys grow), or the fastest (of equals the first by id, which is the order
// they stand in).
void KeepOne(v1::Filter::Attempts which, std::vector<StoredAttempt>* attempts) {
  if (which == v1::Filter::ATTEMPTS_ALL) return;
  if (which == v1::Filter::ATTEMPTS_BEST) {
    std::erase_if(*attempts, [](const StoredAttempt& attempt) { return !attempt.summary.has_best_perf_ms(); });
  }
  if (attempts->empty()) return;
  const auto worse = [which](const StoredAttempt& a, const StoredAttempt& b) {
    return which == v1::Filter::ATTEMPTS_LATEST ? a.key.attempt > b.key.attempt
                                                : a.summary.best_perf_ms() < b.summary.best_perf_ms();
  };
  StoredAttempt one = *std::min_element(attempts->begin(), attempts->end(), worse);
  attempts->clear();
  attempts->push_back(std::move(one));
}

}  // namespace

absl::Status CheckFilter(const v1::Filter& filter) {
  const std::string& id = filter.run_id();
  const bool hex = id.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!id.empty() && (!hex || id.size() < kShortestPrefix || id.size() > kRunIdDigits)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", id, "\" is no run_id: 64 lower-case hex digits, or a prefix of at least 4"));
  }
  if (filter.attempts() < v1::Filter::ATTEMPTS_ALL || filter.attempts() > v1::Filter::ATTEMPTS_BEST) {
    return absl::InvalidArgumentError(absl::StrCat("attempts has no value ", filter.attempts()));
  }
  return absl::OkStatus();
}

Exporter::Exporter(Database& database, const v1::ExportRequest& request, const StoreReader::Sink& sink)
    : database_(database),
      filter_(request.filter()),
      with_details_(request.details()),
      sink_(sink),
      reader_(database) {}

absl::Status Exporter::Run() {
  if (absl::Status status = CheckFilter(filter_); !status.ok()) return status;
  if (absl::Status status = SendTotals(); !status.ok()) return status;
  RunPlace last;
  while (true) {
    absl::StatusOr<std::vector<StoredRun>> runs = NextRuns(last);
    if (!runs.ok() || runs->empty()) return runs.status();
    for (const StoredRun& run : *runs) {
      if (absl::Status status = SendRun(run); !status.ok()) return status;
    }
    last = RunPlace::Behind(runs->back());
  }
}

absl::StatusOr<std::vector<StoredRun>> Exporter::NextRuns(const RunPlace& after) {
  return reader_.Runs(filter_, after, kRunsPerPage);
}

absl::StatusOr<std::vector<StoredAttempt>> Exporter::SelectAttempts(const StoredRun& run) {
  absl::StatusOr<Transaction> transaction = Transaction::BeginRead(database_);
  if (!transaction.ok()) return transaction.status();
  absl::StatusOr<std::vector<StoredAttempt>> attempts = reader_.Attempts(run, filter_.since_unix_us());
  if (!attempts.ok()) return attempts;
  if (filter_.attempts() == v1::Filter::ATTEMPTS_BEST) {
    for (StoredAttempt& attempt : *attempts) {
      if (absl::Status status = reader_.Summarise(&attempt); !status.ok()) return status;
    }
  }
  KeepOne(filter_.attempts(), &*attempts);
  return attempts;
}

absl::StatusOr<v1::RunSummary> Exporter::Summarise(const StoredRun& run, std::vector<StoredAttempt>* selected) {
  absl::StatusOr<Transaction> transaction = Transaction::BeginRead(database_);
  if (!transaction.ok()) return transaction.status();
  absl::StatusOr<std::vector<StoredAttempt>> attempts = reader_.Attempts(run, 0);
  if (!attempts.ok()) return attempts.status();
  absl::StatusOr<v1::RunSummary> summary = reader_.Summarise(run, &*attempts);
  *selected = *std::move(attempts);
  std::erase_if(*selected, [this](const StoredAttempt& attempt) {
    return filter_.since_unix_us() != 0 && BeganAt(attempt) < filter_.since_unix_us();
  });
  KeepOne(filter_.attempts(), selected);
  return summary;
}

absl::Status Exporter::SendTotals() {
  v1::ExportItem item;
  v1::ExportTotals* totals = item.mutable_totals();
  RunPlace last;
  while (true) {
    absl::StatusOr<std::vector<StoredRun>> runs = NextRuns(last);
    if (!runs.ok()) return runs.status();
    if (runs->empty()) return sink_(item);
    for (const StoredRun& run : *runs) {
      absl::StatusOr<std::vector<StoredAttempt>> attempts = SelectAttempts(run);
      if (!attempts.ok()) return attempts.status();
      totals->set_attempts(totals->attempts() + attempts->size());
      for (const StoredAttempt& attempt : *attempts) {
        absl::StatusOr<uint64_t> rows = reader_.measurements().Count(attempt.key);
        if (!rows.ok()) return rows.status();
        totals->set_measurements(totals->measurements() + *rows);
      }
    }
    totals->set_runs(totals->runs() + runs->size());
    last = RunPlace::Behind(runs->back());
  }
}

absl::Status Exporter::SendRun(const StoredRun& run) {
  std::vector<StoredAttempt> attempts;
  reader_.configs().BeginSender(run.sender);
  absl::StatusOr<v1::RunSummary> summary = Summarise(run, &attempts);
  if (!summary.ok()) return summary.status();
  v1::ExportItem item;
  *item.mutable_run() = *std::move(summary);
  absl::Status status = sink_(item);
  if (status.ok()) status = SendIrGraphs(run, item.run());
  if (status.ok()) status = SendRunConfigs(run);
  if (!status.ok()) return status;
  for (const StoredAttempt& attempt : attempts) {
    if (status = SendAttempt(attempt); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Exporter::SendIrGraphs(const StoredRun& run, const v1::RunSummary& summary) {
  for (const std::string& kind : summary.ir_kinds()) {
    v1::ExportItem item;
    {
      absl::StatusOr<Transaction> transaction = Transaction::BeginRead(database_);
      if (!transaction.ok()) return transaction.status();
      absl::StatusOr<v1::IrGraph> graph = reader_.ir_graphs().Read(run.described_by, run.run.run_id(), kind);
      if (!graph.ok()) return graph.status();
      *item.mutable_ir_graph() = *std::move(graph);
    }
    if (absl::Status status = sink_(item); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Exporter::SendRunConfigs(const StoredRun& run) {
  absl::StatusOr<std::vector<std::pair<uint64_t, int64_t>>> keys = reader_.RunConfigKeys(run.described_by);
  if (!keys.ok()) return keys.status();
  for (size_t begin = 0; begin < keys->size(); begin += kRunConfigsPerPage) {
    v1::ExportItem item;
    {
      absl::StatusOr<Transaction> transaction = Transaction::BeginRead(database_);
      if (!transaction.ok()) return transaction.status();
      const size_t end = std::min(begin + kRunConfigsPerPage, keys->size());
      for (size_t i = begin; i < end; ++i) {
        const auto& [config_id, key] = (*keys)[i];
        v1::RunConfig* config = item.mutable_run_configs()->add_run_configs();
        config->set_run_id(run.run.run_id());
        config->set_config_id(config_id);
        absl::Status status = reader_.ReadRunConfig(run.described_by, key, config);
        if (status.ok()) status = reader_.configs().Id(key, configs_.mutable_configs()).status();
        if (!status.ok()) return status;
      }
    }
    absl::Status status = FlushConfigs();
    if (status.ok()) status = sink_(item);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Exporter::SendAttempt(const StoredAttempt& attempt) {
  v1::ExportItem item;
  *item.mutable_attempt() = attempt.summary;
  absl::Status status = sink_(item);
  if (status.ok()) status = SendRows(attempt);
  return status.ok() ? CheckStillThere(attempt) : status;
}

absl::Status Exporter::SendRows(const StoredAttempt& attempt) {
  const absl::StatusOr<RowParts> parts = FindParts(attempt);
  if (!parts.ok()) return parts.status();
  uint64_t last_seq = 0;
  while (true) {
    absl::Status status = ReadRows(attempt.key, last_seq, *parts);
    const auto& rows = rows_.rows().measurements();
    if (!status.ok() || rows.empty()) return status;
    last_seq = rows.rbegin()->seq();
    if (status = FlushConfigs(); !status.ok()) return status;
    if (status = sink_(rows_); !status.ok() || rows.size() < kRowsPerPage) return status;
  }
}

absl::StatusOr<Exporter::RowParts> Exporter::FindParts(const StoredAttempt& attempt) {
  const absl::StatusOr<bool> hashes = reader_.measurements().HasHashes(attempt.key);
  if (!hashes.ok()) return hashes.status();
  if (!with_details_) return RowParts{.hashes = *hashes};
  const absl::StatusOr<bool> details = reader_.details().HasDetails(attempt.key);
  if (!details.ok()) return details.status();
  return RowParts{.hashes = *hashes, .details = *details};
}

absl::Status Exporter::ReadRows(const AttemptKey& attempt, uint64_t after_seq, RowParts parts) {
  v1::ExportRows* page = rows_.mutable_rows();
  page->Clear();
  absl::StatusOr<Transaction> transaction = Transaction::BeginRead(database_);
  if (!transaction.ok()) return transaction.status();
  absl::Status status = reader_.measurements().ReadPage(attempt, after_seq, kRowsPerPage, filter_.status(),
                                                        page->mutable_measurements(), configs_.mutable_configs());
  if (status.ok() && parts.hashes) {
    status = reader_.measurements().ReadHashes(attempt, page->measurements(), page->mutable_source_hashes());
  }
  if (!status.ok() || !parts.details) return status;
  return reader_.details().Read(attempt, page->measurements(), page->mutable_details());
}

// The pages are transactions of their own. An attempt that went away between them was announced, but came only in part.
absl::Status Exporter::CheckStillThere(const StoredAttempt& attempt) {
  absl::StatusOr<StoredAttempt> now = reader_.Attempt(attempt.summary.attempt().attempt_id());
  if (now.ok() && now->key == attempt.key) return absl::OkStatus();
  if (!now.ok() && !absl::IsNotFound(now.status())) return now.status();
  return absl::AbortedError("the dataset changed under the export: an attempt was superseded or removed; export again");
}

absl::Status Exporter::FlushConfigs() {
  if (configs_.configs().configs().empty()) return absl::OkStatus();
  absl::Status status = sink_(configs_);
  configs_.mutable_configs()->Clear();
  return status;
}

}  // namespace telemetry::storage
