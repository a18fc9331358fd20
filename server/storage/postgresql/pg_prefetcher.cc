#include "server/storage/postgresql/pg_prefetcher.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"

namespace telemetry::storage::postgresql {
namespace {

// Runs a bound statement and calls `take` for each of its rows.
absl::Status ForEachRow(PgStatement& statement, absl::FunctionRef<void()> take) {
  while (true) {
    const absl::StatusOr<bool> row = statement.Step();
    if (!row.ok() || !*row) return row.status();
    take();
  }
}

// A chunk of this size needs far less memory than the transaction's records.
constexpr size_t kRowsAtOnce = 4096;

// Returns a statement that finds the rows (?1: attempt_ids, ?2: seqs) that exist in `table`. It selects the attempt's
// key, seq, and `columns` of the row, whose alias is m.
std::string FindRows(absl::string_view columns, absl::string_view table) {
  return absl::StrCat("SELECT a.attempt, w.seq, ", columns,
                      " FROM unnest(?1, ?2) AS w (attempt_id, seq) JOIN attempts AS a ON a.attempt_id = w.attempt_id "
                      "CROSS JOIN LATERAL (SELECT * FROM ",
                      table, " AS r WHERE r.run = a.run AND r.attempt = a.attempt AND r.seq = w.seq OFFSET 0) AS m");
}

// Runs a statement of FindRows() for the records' rows of one kind.
class RowSearch {
 public:
  explicit RowSearch(PgStatement& statement) : statement_(statement) {}

  template <typename Row>
  void Add(const Row& row) {
    attempt_ids_.Add(row.attempt_id());
    seqs_.Add(static_cast<int64_t>(row.seq()));
  }
  // Calls `take` with the attempt's key and the row's seq. The caller reads further columns, from 2 on, from the
  // statement.
  absl::Status Run(absl::FunctionRef<void(int64_t, uint64_t)> take) {
    if (seqs_.empty()) return absl::OkStatus();
    statement_.Bind(1, attempt_ids_);
    statement_.Bind(2, seqs_);
    return ForEachRow(statement_, [&] { take(statement_.Int(0), static_cast<uint64_t>(statement_.Int(1))); });
  }

 private:
  PgStatement& statement_;
  PgArray attempt_ids_ = PgArray::OfBytes();
  PgArray seqs_ = PgArray::OfIntegers();
};

PgArray ToPgArray(const absl::flat_hash_set<std::string>& texts) {
  PgArray array = PgArray::OfTexts();
  for (const std::string& text : texts) array.Add(text);
  return array;
}

// Two arrays of the same length: run_ids and the senders that named them.
struct RunArrays {
  PgArray run_ids = PgArray::OfTexts();
  PgArray senders = PgArray::OfIntegers();
};

RunArrays ToRunArrays(const absl::flat_hash_set<std::pair<std::string, int64_t>>& runs) {
  RunArrays arrays;
  for (const auto& [run_id, sender] : runs) {
    arrays.run_ids.Add(run_id);
    arrays.senders.Add(sender);
  }
  return arrays;
}

// Caches the run of a row with the columns run_id, sender and run.
void Remember(const PgStatement& row, tables::RunTable& runs) {
  runs.Remember(std::string(row.Text(0)), row.Int(1), row.Int(2));
}

// Returns the first two columns of a row, config_id and sender.
tables::ConfigTable::Id ConfigIdColumns(const PgStatement& row) {
  return {.config_id = static_cast<uint64_t>(row.Int(0)), .sender = row.Int(1)};
}

// Returns whether all arguments of a text have keys.
bool KnowsArguments(const tables::ConfigTable& configs, const std::string& text) {
  const std::vector<std::string_view> pieces = tables::ConfigTable::SplitArguments(text);
  return std::all_of(pieces.begin(), pieces.end(),
                     [&](std::string_view piece) { return configs.KnowsArgument(std::string(piece)); });
}

}  // namespace

PgPrefetcher::PgPrefetcher(PgDatabase& database)
    : find_runs_(database.PreparePg("SELECT run_id, sender, run FROM runs WHERE run_id = ANY(?1) AND sender = ANY(?2) "
                                    "ORDER BY run_id, sender FOR NO KEY UPDATE")),
      make_runs_(database.PreparePg(
          "INSERT INTO runs (run_id, sender) SELECT r.run_id, r.sender FROM unnest(?1, ?2) AS r (run_id, sender) "
          "ORDER BY r.run_id, r.sender ON CONFLICT DO NOTHING RETURNING run_id, sender, run")),
      // Looks up each row by its key. A join that was planned while the table was small would scan the complete table
      // ever after.
      find_run_configs_(database.PreparePg(
          "SELECT c.run, c.config, c.key_list, l.keys_json, c.sample_id, c.decorator, coalesce(c.sender, 0) "
          "FROM unnest(?1, ?2) AS w (run, config) CROSS JOIN LATERAL (SELECT * FROM run_configs AS r "
          "WHERE r.run = w.run AND r.config = w.config OFFSET 0) AS c LEFT JOIN key_lists AS l ON l.key_list = "
          "c.key_list")),
      find_configs_(database.PreparePg("SELECT config_id, sender, config, arguments, unsplit_text FROM configs "
                                       "WHERE config_id = ANY(?1) AND sender = ANY(?2)")),
      make_configs_(database.PreparePg(
          "INSERT INTO configs (config_id, sender, arguments, unsplit_text) "
          "SELECT c.config_id, c.sender, c.arguments, c.unsplit_text "
          "FROM unnest(?1, ?2, ?3, ?4) AS c (config_id, sender, arguments, unsplit_text) "
          "ORDER BY c.config_id, c.sender ON CONFLICT DO NOTHING RETURNING config_id, sender, config")),
      find_arguments_(database.PreparePg("SELECT text, argument FROM config_arguments WHERE text_sha256 = "
                                         "ANY(ARRAY(SELECT text_sha256(a.text) FROM unnest(?1) AS a (text)))")),
      make_arguments_(database.PreparePg(
          "INSERT INTO config_arguments (text) SELECT a.text FROM unnest(?1) AS a (text) ORDER BY a.text COLLATE \"C\" "
          "ON CONFLICT DO NOTHING RETURNING text, argument")),
      find_measurements_(
          database.PreparePg(FindRows("m.timestamp_s, m.generation, m.status, m.perf_ms, m.compile_time_s, "
                                      "coalesce((SELECT c.config_id FROM configs AS c WHERE c.config = m.config), 0), "
                                      "text_sha256(m.failure)",
                                      "measurements"))),
      find_hashes_(database.PreparePg(FindRows("m.source_hash", "source_hashes"))),
      find_details_(database.PreparePg(FindRows("NULL", "measurement_details"))),
      find_events_(database.PreparePg(FindRows("NULL", "attempt_events"))) {}

absl::Status PgPrefetcher::PrefetchKeys(absl::Span<const Entry> records, tables::RunTable& runs,
                                        tables::ConfigTable& configs) {
  made_runs_.clear();
  made_configs_.clear();
  absl::Status status = PrefetchRuns(records, runs);
  if (status.ok()) status = PrefetchConfigs(records, configs);
  return status.ok() ? PrefetchRunConfigs(records, runs, configs) : status;
}

bool PgPrefetcher::TakeMade(const Entry& entry) {
  const auto& [record, sender] = entry;
  if (record->has_run()) return made_runs_.erase(std::pair(record->run().run_id(), sender)) > 0;
  return record->has_config() && made_configs_.erase({.config_id = record->config().config_id(), .sender = sender}) > 0;
}

absl::Status PgPrefetcher::PrefetchRuns(absl::Span<const Entry> records, tables::RunTable& runs) {
  Runs named;
  Runs described;  // these runs are created in any case
  for (const auto& [record, sender] : records) {
    if (record->has_attempt()) named.emplace(record->attempt().run_id(), sender);
    if (record->has_run()) described.emplace(record->run().run_id(), sender);
    if (record->has_run_config()) described.emplace(record->run_config().run_id(), sender);
    if (record->has_ir_graph()) described.emplace(record->ir_graph().run_id(), sender);
  }
  named.insert(described.begin(), described.end());
  absl::Status status = FindRuns(named, runs);
  if (!status.ok()) return status;
  const auto is_known = [&runs](const auto& run) { return runs.KnownKey(run.first, run.second).has_value(); };
  absl::erase_if(described, is_known);
  if (described.empty()) return absl::OkStatus();
  const RunArrays arrays = ToRunArrays(described);
  make_runs_->Bind(1, arrays.run_ids);
  make_runs_->Bind(2, arrays.senders);
  status = ForEachRow(*make_runs_, [&] {
    made_runs_.emplace(make_runs_->Text(0), make_runs_->Int(1));
    Remember(*make_runs_, runs);
  });
  if (!status.ok()) return status;
  // Finds the runs that other writers have created in the meantime.
  absl::erase_if(described, is_known);
  return FindRuns(described, runs);
}

absl::Status PgPrefetcher::FindRuns(const Runs& wanted, tables::RunTable& runs) {
  if (wanted.empty()) return absl::OkStatus();
  const RunArrays arrays = ToRunArrays(wanted);
  find_runs_->Bind(1, arrays.run_ids);
  find_runs_->Bind(2, arrays.senders);
  return ForEachRow(*find_runs_, [&] { Remember(*find_runs_, runs); });
}

absl::Status PgPrefetcher::PrefetchRows(absl::Span<const Entry> records, tables::MeasurementTable& measurements,
                                        tables::DetailTable& details, tables::EventTable& events) {
  measurements.BeginKnownRows(finds_rows_);
  details.BeginKnownRows(finds_rows_);
  events.BeginKnownRows(finds_rows_);
  if (!finds_rows_) return absl::OkStatus();
  for (size_t at = 0; at < records.size(); at += kRowsAtOnce) {
    const absl::Span<const Entry> some = records.subspan(at, kRowsAtOnce);
    absl::Status status = FindMeasurements(some, measurements);
    if (status.ok()) status = FindHashes(some, measurements);
    if (status.ok()) status = FindDetails(some, details);
    if (status.ok()) status = FindEvents(some, events);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status PgPrefetcher::FindMeasurements(absl::Span<const Entry> records, tables::MeasurementTable& measurements) {
  PgStatement& found = *find_measurements_;
  RowSearch search(found);
  for (const auto& [record, sender] : records) {
    if (record->has_measurement()) search.Add(record->measurement());
  }
  return search.Run([&](int64_t attempt, uint64_t seq) {
    measurements.RememberRow(attempt, seq,
                             {.timestamp_s = found.Double(2),
                              .generation = found.Int(3),
                              .status = found.Int(4),
                              .perf_ms = tables::DoubleColumn(found, 5),
                              .compile_time_s = tables::DoubleColumn(found, 6),
                              .config_id = static_cast<uint64_t>(found.Int(7)),
                              .failure_sha256 = tables::TextColumn(found, 8)});
  });
}

absl::Status PgPrefetcher::FindHashes(absl::Span<const Entry> records, tables::MeasurementTable& measurements) {
  RowSearch search(*find_hashes_);
  for (const auto& [record, sender] : records) {
    if (record->has_source_hash()) search.Add(record->source_hash());
  }
  return search.Run(
      [&](int64_t attempt, uint64_t seq) { measurements.RememberHash(attempt, seq, find_hashes_->Bytes(2)); });
}

absl::Status PgPrefetcher::FindDetails(absl::Span<const Entry> records, tables::DetailTable& details) {
  RowSearch search(*find_details_);
  for (const auto& [record, sender] : records) {
    if (record->has_measurement_detail()) search.Add(record->measurement_detail());
  }
  return search.Run([&](int64_t attempt, uint64_t seq) { details.RememberRow(attempt, seq); });
}

absl::Status PgPrefetcher::FindEvents(absl::Span<const Entry> records, tables::EventTable& events) {
  RowSearch search(*find_events_);
  for (const auto& [record, sender] : records) {
    if (record->has_attempt_event()) search.Add(record->attempt_event());
  }
  return search.Run([&](int64_t attempt, uint64_t seq) { events.RememberRow(attempt, seq); });
}

absl::Status PgPrefetcher::PrefetchRunConfigs(absl::Span<const Entry> records, const tables::RunTable& runs,
                                              tables::ConfigTable& configs) {
  PgArray run_keys = PgArray::OfIntegers();
  PgArray config_keys = PgArray::OfIntegers();
  for (const auto& [record, sender] : records) {
    if (!record->has_run_config()) continue;
    const std::optional<int64_t> run = runs.KnownKey(record->run_config().run_id(), sender);
    const std::optional<int64_t> config =
        configs.KnownKey({.config_id = record->run_config().config_id(), .sender = sender});
    if (!run || !config) continue;
    configs.Remember(*run, *config, {});
    run_keys.Add(*run);
    config_keys.Add(*config);
  }
  if (run_keys.empty()) return absl::OkStatus();
  PgStatement& found = *find_run_configs_;
  found.Bind(1, run_keys);
  found.Bind(2, config_keys);
  return ForEachRow(found, [&] {
    configs.Remember(found.Int(0), found.Int(1),
                     {.is_stored = true,
                      .key_list = found.IsNull(2) ? std::nullopt : std::optional<int64_t>(found.Int(2)),
                      .keys_json = tables::TextColumn(found, 3),
                      .sample_id = tables::TextColumn(found, 4),
                      .decorator = tables::TextColumn(found, 5),
                      .sender = found.Int(6)});
  });
}

absl::Status PgPrefetcher::PrefetchConfigs(absl::Span<const Entry> records, tables::ConfigTable& configs) {
  Configs wanted = Collect(records, configs);
  absl::Status status = FindConfigs(wanted, configs);
  if (status.ok()) status = FindArguments(UnknownArguments(wanted, Of::kAllTexts, configs), configs);
  if (status.ok()) status = MakeArguments(wanted, configs);
  if (status.ok()) status = MarkStoredTexts(wanted, configs);
  return status.ok() ? MakeConfigs(wanted, configs) : status;
}

PgPrefetcher::Configs PgPrefetcher::Collect(absl::Span<const Entry> records, const tables::ConfigTable& configs) {
  Configs wanted;
  const auto add_named = [&](const tables::ConfigTable::Id& id) {
    if (!configs.Knows(id)) wanted.named.insert(id);
  };
  for (const auto& [record, sender] : records) {
    if (record->has_measurement()) add_named({record->measurement().config_id(), sender});
    if (record->has_run_config()) add_named({record->run_config().config_id(), sender});
    // If there are several texts, only the first one is considered.
    if (record->has_config()) {
      wanted.incoming.try_emplace({record->config().config_id(), sender}, Incoming{.text = &record->config().text()});
    }
  }
  return wanted;
}

absl::Status PgPrefetcher::FindConfigs(Configs& wanted, tables::ConfigTable& configs) {
  PgArray ids = PgArray::OfIntegers();
  absl::flat_hash_set<int64_t> named_by;
  const auto add = [&](const tables::ConfigTable::Id& id) {
    ids.Add(static_cast<int64_t>(id.config_id));
    named_by.insert(id.sender);
  };
  for (const tables::ConfigTable::Id& id : wanted.named) {
    if (!wanted.incoming.contains(id)) add(id);
  }
  for (const auto& [id, incoming] : wanted.incoming) add(id);
  if (ids.empty()) return absl::OkStatus();
  PgArray senders = PgArray::OfIntegers();
  for (const int64_t sender : named_by) senders.Add(sender);
  find_configs_->Bind(1, ids);
  find_configs_->Bind(2, senders);
  return ForEachRow(*find_configs_, [&] {
    const tables::ConfigTable::Id id = ConfigIdColumns(*find_configs_);
    configs.Remember(id, find_configs_->Int(2));
    const auto incoming = wanted.incoming.find(id);
    if (incoming == wanted.incoming.end()) return;
    incoming->second.is_known = true;
    incoming->second.arguments = tables::TextColumn(*find_configs_, 3);
    incoming->second.unsplit = tables::TextColumn(*find_configs_, 4);
  });
}

PgPrefetcher::Texts PgPrefetcher::UnknownArguments(const Configs& wanted, Of of, const tables::ConfigTable& configs) {
  Texts unknown;
  for (const auto& [id, incoming] : wanted.incoming) {
    if (of == Of::kNewConfigs && incoming.is_known) continue;
    for (const std::string_view piece : tables::ConfigTable::SplitArguments(*incoming.text)) {
      std::string argument(piece);
      if (!configs.KnowsArgument(argument)) unknown.insert(std::move(argument));
    }
  }
  return unknown;
}

absl::Status PgPrefetcher::FindArguments(const Texts& texts, tables::ConfigTable& configs) {
  if (texts.empty()) return absl::OkStatus();
  const PgArray array = ToPgArray(texts);
  find_arguments_->Bind(1, array);
  return ForEachRow(*find_arguments_,
                    [&] { configs.RememberArgument(std::string(find_arguments_->Text(0)), find_arguments_->Int(1)); });
}

absl::Status PgPrefetcher::MakeArguments(const Configs& wanted, tables::ConfigTable& configs) {
  const Texts texts = UnknownArguments(wanted, Of::kNewConfigs, configs);
  if (texts.empty()) return absl::OkStatus();
  const PgArray array = ToPgArray(texts);
  make_arguments_->Bind(1, array);
  RETURN_IF_ERROR(ForEachRow(*make_arguments_, [&] {
    configs.RememberArgument(std::string(make_arguments_->Text(0)), make_arguments_->Int(1));
  }));
  // Finds the arguments that other writers have created in the meantime.
  return FindArguments(UnknownArguments(wanted, Of::kNewConfigs, configs), configs);
}

absl::Status PgPrefetcher::MarkStoredTexts(const Configs& wanted, tables::ConfigTable& configs) {
  for (const auto& [id, incoming] : wanted.incoming) {
    // A text with an unknown argument cannot be the stored text.
    if (!incoming.is_known || !KnowsArguments(configs, *incoming.text)) continue;
    ASSIGN_OR_RETURN(const tables::ConfigTable::StoredText text, configs.Encode(*incoming.text));
    const bool same_unsplit = text.unsplit ? incoming.unsplit == *text.unsplit : !incoming.unsplit;
    if (same_unsplit && incoming.arguments == text.arguments) configs.MarkStored(id, *incoming.text);
  }
  return absl::OkStatus();
}

absl::Status PgPrefetcher::MakeConfigs(const Configs& wanted, tables::ConfigTable& configs) {
  PgArray ids = PgArray::OfIntegers();
  PgArray senders = PgArray::OfIntegers();
  PgArray arguments = PgArray::OfTexts();
  PgArray unsplit = PgArray::OfTexts();
  for (const auto& [id, incoming] : wanted.incoming) {
    if (incoming.is_known) continue;
    ASSIGN_OR_RETURN(const tables::ConfigTable::StoredText text, configs.Encode(*incoming.text));
    ids.Add(static_cast<int64_t>(id.config_id));
    senders.Add(id.sender);
    arguments.Add(text.arguments);
    unsplit.Add(text.unsplit);
  }
  if (ids.empty()) return absl::OkStatus();
  make_configs_->Bind(1, ids);
  make_configs_->Bind(2, senders);
  make_configs_->Bind(3, arguments);
  make_configs_->Bind(4, unsplit);
  return ForEachRow(*make_configs_, [&] {
    const tables::ConfigTable::Id id = ConfigIdColumns(*make_configs_);
    made_configs_.insert(id);
    configs.Remember(id, make_configs_->Int(2));
    configs.MarkStored(id, *wanted.incoming.at(id).text);
  });
}

}  // namespace telemetry::storage::postgresql
