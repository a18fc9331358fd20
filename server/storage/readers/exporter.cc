#include "server/storage/readers/exporter.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "server/storage/readers/key_lookup.h"
#include "server/storage/sql/transaction.h"

namespace telemetry::storage::readers {
namespace {

using google::protobuf::internal::WireFormatLite;

// A small number, since a run may be larger than a megabyte in memory.
constexpr int64_t kRunsPerPage = 8;
constexpr int64_t kRowsPerPage = 1000;
constexpr size_t kRunConfigsPerPage = 1000;
// A page of rows or run configs ends with the item that reaches this size. It is small enough that a client that reads
// 10 kB/s needs less than --unread-timeout for a page.
constexpr size_t kPageBytes = size_t{256} << 10;

// Returns the attempt's start, or if that is not known, the time when the collector first received a record of it.
int64_t BeganAt(const StoredAttempt& attempt) {
  const v1::AttemptSummary& summary = attempt.summary;
  return summary.attempt().has_started_unix_us() ? summary.attempt().started_unix_us()
                                                 : summary.first_received_unix_us();
}

// Reduces the attempts to one: the last to arrive (keys grow with arrival), or the one with the best row (highest rank,
// then fastest; among equals the first by id, which is the order of the vector).
void KeepOne(v1::Filter::Attempts which, std::vector<StoredAttempt>* attempts) {
  if (which == v1::Filter::ATTEMPTS_ALL) return;
  if (which == v1::Filter::ATTEMPTS_BEST) {
    std::erase_if(*attempts, [](const StoredAttempt& attempt) { return !attempt.best.has_value(); });
  }
  if (attempts->empty()) return;
  const auto worse = [which](const StoredAttempt& a, const StoredAttempt& b) {
    return which == v1::Filter::ATTEMPTS_LATEST ? a.key.attempt > b.key.attempt : a.best->IsBetterThan(*b.best);
  };
  StoredAttempt one = *std::min_element(attempts->begin(), attempts->end(), worse);
  attempts->clear();
  attempts->push_back(std::move(one));
}

absl::Status HasChanged() {
  return absl::AbortedError(
      "the dataset changed under the export: an attempt was superseded or removed; repeat the export");
}

}  // namespace

absl::Status CheckFilter(const v1::Filter& filter) {
  const std::string& id = filter.run_id();
  if (!id.empty() && !record::IsRunIdPrefix(id)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", id, "\" is no run_id: 64 lower-case hex digits, or a prefix of at least 4"));
  }
  if (filter.attempts() < v1::Filter::ATTEMPTS_ALL || filter.attempts() > v1::Filter::ATTEMPTS_BEST) {
    return absl::InvalidArgumentError(absl::StrCat("attempts has no value ", filter.attempts()));
  }
  return absl::OkStatus();
}

Exporter::Exporter(v1::ExportRequest request)
    : filter_(std::move(*request.mutable_filter())),
      with_details_(request.details()),
      with_events_(request.events()),
      walk_(Run()) {
  resume_ = walk_.handle();
}

absl::StatusOr<ExportStep> Exporter::Next(sql::Database& database, DatasetReader& reader) {
  if (!connections_lost_.has_value()) connections_lost_ = database.connections_lost();
  database_ = &database;
  reader_ = &reader;
  step_ = {};
  reader.configs().Use(&seen_);
  resume_.resume();
  reader.configs().Use(nullptr);
  if (walk_.done() && !walk_.status().ok()) return walk_.status();
  if (database.connections_lost() != *connections_lost_) {
    return absl::UnavailableError("the connection to the database was lost during the export; repeat the export");
  }
  step_.done = walk_.done();
  return std::move(step_);
}

Walk Exporter::Run() {
  if (absl::Status status = CheckFilter(filter_); !status.ok()) co_return status;
  if (absl::Status status = co_await SendTotals(); !status.ok()) co_return status;
  RunPlace last;
  while (true) {
    absl::StatusOr<std::vector<StoredRun>> runs = NextRuns(last);
    if (!runs.ok()) co_return runs.status();
    if (runs->empty()) break;
    for (const StoredRun& run : *runs) {
      if (absl::Status status = co_await SendRun(run); !status.ok()) co_return status;
    }
    last = RunPlace::Behind(runs->back());
  }
  if (has_sent_any_) co_return absl::OkStatus();
  co_return co_await SendFilterValues();
}

absl::StatusOr<std::vector<StoredRun>> Exporter::NextRuns(const RunPlace& after) {
  ASSIGN_OR_RETURN(const sql::Transaction transaction, sql::Transaction::BeginRead(*database_));
  ASSIGN_OR_RETURN(std::vector<StoredRun> runs, reader_->Runs(filter_, after, kRunsPerPage));
  for (StoredRun& run : runs) {
    v1::Run only_id;
    only_id.set_run_id(run.run.run_id());
    run.run = std::move(only_id);
  }
  return runs;
}

absl::StatusOr<std::vector<StoredAttempt>> Exporter::SelectAttempts(const StoredRun& run) {
  ASSIGN_OR_RETURN(std::vector<StoredAttempt> attempts, reader_->Attempts(run, filter_.since_unix_us()));
  if (filter_.attempts() == v1::Filter::ATTEMPTS_BEST) {
    for (StoredAttempt& attempt : attempts) {
      RETURN_IF_ERROR(reader_->Summarise(&attempt));
    }
  }
  KeepOne(filter_.attempts(), &attempts);
  return attempts;
}

absl::StatusOr<v1::RunSummary> Exporter::Summarise(const StoredRun& run, std::vector<StoredAttempt>* selected) {
  ASSIGN_OR_RETURN(const sql::Transaction transaction, sql::Transaction::BeginRead(*database_));
  const absl::StatusOr<std::vector<StoredRun>> runs = reader_->RunsWithId(run.run.run_id());
  if (absl::IsNotFound(runs.status())) return HasChanged();
  if (!runs.ok()) return runs.status();
  const auto whole = absl::c_find_if(*runs, [&run](const StoredRun& other) { return other.key == run.key; });
  if (whole == runs->end()) return HasChanged();
  ASSIGN_OR_RETURN(std::vector<StoredAttempt> attempts, reader_->Attempts(run, 0));
  absl::StatusOr<v1::RunSummary> summary = reader_->Summarise(*whole, &attempts);
  *selected = std::move(attempts);
  std::erase_if(*selected, [this](const StoredAttempt& attempt) {
    return filter_.since_unix_us() != 0 && BeganAt(attempt) < filter_.since_unix_us();
  });
  KeepOne(filter_.attempts(), selected);
  return summary;
}

absl::Status Exporter::AddTotals(const StoredRun& run, v1::ExportTotals* totals) {
  totals->set_runs(totals->runs() + 1);
  if (filter_.attempts() == v1::Filter::ATTEMPTS_ALL && filter_.since_unix_us() == 0) {
    return reader_->AddTotals(run, totals);
  }
  ASSIGN_OR_RETURN(const sql::Transaction transaction, sql::Transaction::BeginRead(*database_));
  ASSIGN_OR_RETURN(std::vector<StoredAttempt> attempts, SelectAttempts(run));
  totals->set_attempts(totals->attempts() + attempts.size());
  for (const StoredAttempt& attempt : attempts) {
    ASSIGN_OR_RETURN(uint64_t rows, reader_->measurements().Count(attempt.key));
    totals->set_measurements(totals->measurements() + rows);
  }
  return absl::OkStatus();
}

Walk Exporter::SendTotals() {
  v1::ExportItem item;
  v1::ExportTotals* totals = item.mutable_totals();
  RunPlace last;
  while (true) {
    absl::StatusOr<std::vector<StoredRun>> runs = NextRuns(last);
    if (!runs.ok()) co_return runs.status();
    if (runs->empty()) break;
    for (const StoredRun& run : *runs) {
      if (absl::Status status = AddTotals(run, totals); !status.ok()) co_return status;
      co_await EndStep{this};
    }
    last = RunPlace::Behind(runs->back());
  }
  co_await Emit(std::move(item));
  co_return absl::OkStatus();
}

Walk Exporter::SendRun(const StoredRun& run) {
  std::vector<StoredAttempt> attempts;
  reader_->configs().BeginSender(run.sender);
  v1::ExportItem item;
  {
    absl::StatusOr<v1::RunSummary> summary = Summarise(run, &attempts);
    if (!summary.ok()) co_return summary.status();
    *item.mutable_run() = *std::move(summary);
  }
  const std::vector<std::string> ir_kinds(item.run().ir_kinds().begin(), item.run().ir_kinds().end());
  co_await Emit(std::move(item));
  absl::Status status = co_await SendIrGraphs(run, ir_kinds);
  if (!status.ok()) co_return status;
  status = co_await SendRunConfigs(run);
  if (!status.ok()) co_return status;
  for (const StoredAttempt& attempt : attempts) {
    status = co_await SendAttempt(attempt);
    if (!status.ok()) co_return status;
  }
  co_return absl::OkStatus();
}

absl::StatusOr<std::string> Exporter::ReadIrGraph(const StoredRun& run, const std::string& kind) {
  ASSIGN_OR_RETURN(const sql::Transaction transaction, sql::Transaction::BeginRead(*database_));
  ASSIGN_OR_RETURN(const std::string graph, reader_->ir_graphs().Read(run.described_by, run.run.run_id(), kind));
  std::string item;
  {
    google::protobuf::io::StringOutputStream stream(&item);
    google::protobuf::io::CodedOutputStream out(&stream);
    WireFormatLite::WriteBytes(v1::ExportItem::kIrGraphFieldNumber, graph, &out);
  }
  return item;
}

Walk Exporter::SendIrGraphs(const StoredRun& run, const std::vector<std::string>& kinds) {
  for (const std::string& kind : kinds) {
    absl::StatusOr<std::string> item = ReadIrGraph(run, kind);
    if (!item.ok()) co_return item.status();
    step_.serialised = *std::move(item);
    co_await EndStep{this};
  }
  co_return absl::OkStatus();
}

Walk Exporter::SendRunConfigs(const StoredRun& run) {
  absl::StatusOr<RunConfigList> list = reader_->ListRunConfigs(run.described_by);
  if (!list.ok()) co_return list.status();
  for (size_t begin = 0; begin < list->keys.size();) {
    v1::ExportItem item;
    const absl::StatusOr<size_t> next = ReadRunConfigs(run, begin, &*list, item.mutable_run_configs());
    if (!next.ok()) co_return next.status();
    begin = *next;
    absl::Status status = co_await FlushConfigs();
    if (!status.ok()) co_return status;
    co_await Emit(std::move(item));
  }
  co_return absl::OkStatus();
}

absl::StatusOr<size_t> Exporter::ReadRunConfigs(const StoredRun& run, size_t begin, RunConfigList* list,
                                                v1::ExportRunConfigs* page) {
  ASSIGN_OR_RETURN(const sql::Transaction transaction, sql::Transaction::BeginRead(*database_));
  const size_t end = std::min(begin + kRunConfigsPerPage, list->keys.size());
  size_t bytes = 0;
  size_t announced_bytes = 0;
  size_t i = begin;
  const auto is_full = [&] { return i == end || bytes >= kPageBytes || announced_bytes >= kPageBytes; };
  while (!is_full()) {
    absl::flat_hash_map<int64_t, StoredRunConfig> rows = std::exchange(list->rows, {});
    size_t rows_end = end;
    if (rows.empty()) {
      std::vector<int64_t> some;
      rows_end = std::min(i + KeyLookup::kKeysAtOnce, end);
      for (size_t next = i; next < rows_end; ++next) some.push_back(list->keys[next].second);
      ASSIGN_OR_RETURN(rows, reader_->ReadRunConfigs(run.described_by, some));
    }
    for (; i < rows_end && !is_full(); ++i) {
      const auto& [config_id, key] = list->keys[i];
      v1::RunConfig* config = page->add_run_configs();
      config->set_run_id(run.run.run_id());
      config->set_config_id(config_id);
      if (const auto row = rows.find(key); row != rows.end()) {
        RETURN_IF_ERROR(reader_->Fill(row->second, config));
      }
      bytes += config->ByteSizeLong();
      ASSIGN_OR_RETURN(const size_t announced, Announce(key));
      announced_bytes += announced;
    }
  }
  return i;
}

absl::StatusOr<size_t> Exporter::Announce(int64_t config) {
  v1::ExportConfigs* const announced = configs_.mutable_configs();
  const int before = announced->configs_size();
  RETURN_IF_ERROR(reader_->configs().Id(config, announced).status());
  return announced->configs_size() > before ? announced->configs().rbegin()->ByteSizeLong() : 0;
}

absl::Status Exporter::ReadAttempt(const StoredAttempt& attempt, v1::AttemptSummary* summary) {
  ASSIGN_OR_RETURN(StoredAttempt whole, ReadAgain(attempt));
  *summary = std::move(whole.summary);
  summary->set_measurements(attempt.summary.measurements());
  if (attempt.summary.has_best_perf_ms()) summary->set_best_perf_ms(attempt.summary.best_perf_ms());
  return absl::OkStatus();
}

Walk Exporter::SendAttempt(const StoredAttempt& attempt) {
  v1::ExportItem item;
  absl::Status status = ReadAttempt(attempt, item.mutable_attempt());
  if (!status.ok()) co_return status;
  co_await Emit(std::move(item));
  status = co_await SendRows(attempt);
  if (!status.ok()) co_return status;
  if (with_events_) status = co_await SendEvents(attempt);
  if (!status.ok()) co_return status;
  co_return ReadAgain(attempt).status();
}

Walk Exporter::SendEvents(const StoredAttempt& attempt) {
  uint64_t last_seq = 0;
  for (bool more = true; more;) {
    v1::ExportItem item;
    const absl::StatusOr<bool> read = ReadEvents(attempt.key, last_seq, item.mutable_events());
    if (!read.ok()) co_return read.status();
    more = *read;
    if (item.events().events().empty()) break;
    last_seq = item.events().events().rbegin()->seq();
    has_sent_any_ = true;
    co_await Emit(std::move(item));
  }
  co_return absl::OkStatus();
}

absl::StatusOr<bool> Exporter::ReadEvents(const sql::AttemptKey& attempt, uint64_t after_seq, v1::ExportEvents* page) {
  return reader_->events().ReadPage(attempt, after_seq, kPageBytes, page->mutable_events());
}

Walk Exporter::SendRows(const StoredAttempt& attempt) {
  const absl::StatusOr<RowParts> parts = FindParts(attempt);
  if (!parts.ok()) co_return parts.status();
  uint64_t last_seq = 0;
  for (bool more = true; more;) {
    const absl::StatusOr<bool> read = ReadRows(attempt.key, last_seq, *parts);
    if (!read.ok()) co_return read.status();
    more = *read;
    const auto& rows = rows_.rows().measurements();
    if (rows.empty()) break;
    last_seq = rows.rbegin()->seq();
    absl::Status status = co_await FlushConfigs();
    if (!status.ok()) co_return status;
    has_sent_any_ = true;
    co_await Emit(std::move(rows_));
  }
  co_return absl::OkStatus();
}

absl::StatusOr<Exporter::RowParts> Exporter::FindParts(const StoredAttempt& attempt) {
  ASSIGN_OR_RETURN(const bool hashes, reader_->measurements().HasHashes(attempt.key));
  if (!with_details_) return RowParts{.hashes = hashes};
  ASSIGN_OR_RETURN(const bool details, reader_->details().HasDetails(attempt.key));
  return RowParts{.hashes = hashes, .details = details};
}

absl::StatusOr<bool> Exporter::ReadRows(const sql::AttemptKey& attempt, uint64_t after_seq, RowParts parts) {
  v1::ExportRows* page = rows_.mutable_rows();
  page->Clear();
  ASSIGN_OR_RETURN(const sql::Transaction transaction, sql::Transaction::BeginRead(*database_));
  absl::StatusOr<bool> more =
      reader_->measurements().ReadPage(attempt, after_seq, {.rows = kRowsPerPage, .bytes = kPageBytes},
                                       filter_.status(), page->mutable_measurements(), configs_.mutable_configs());
  if (more.ok() && parts.details) {
    ASSIGN_OR_RETURN(const bool shortened, reader_->details().Read(attempt, kPageBytes, page->mutable_measurements(),
                                                                   page->mutable_details()));
    more = *more || shortened;
  }
  if (!more.ok() || !parts.hashes) return more;
  RETURN_IF_ERROR(reader_->measurements().ReadHashes(attempt, page->measurements(), page->mutable_source_hashes()));
  return more;
}

// Each page is read in its own transaction. An attempt that was removed between two pages was announced but exported
// only in part.
absl::StatusOr<StoredAttempt> Exporter::ReadAgain(const StoredAttempt& attempt) {
  absl::StatusOr<StoredAttempt> now = reader_->Attempt(attempt.summary.attempt().attempt_id());
  if (absl::IsNotFound(now.status()) || (now.ok() && !(now->key == attempt.key))) return HasChanged();
  return now;
}

Walk Exporter::SendFilterValues() {
  v1::ExportItem item;
  {
    absl::StatusOr<sql::Transaction> transaction = sql::Transaction::BeginRead(*database_);
    if (!transaction.ok()) co_return transaction.status();
    absl::StatusOr<v1::FilterValues> values = reader_->ReadFilterValues();
    if (!values.ok()) co_return values.status();
    *item.mutable_filter_values() = *std::move(values);
  }
  co_await Emit(std::move(item));
  co_return absl::OkStatus();
}

Walk Exporter::FlushConfigs() {
  if (configs_.configs().configs().empty()) co_return absl::OkStatus();
  co_await Emit(std::move(configs_));
  co_return absl::OkStatus();
}

}  // namespace telemetry::storage::readers
