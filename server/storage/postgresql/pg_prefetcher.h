#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "server/storage/postgresql/pg_array.h"
#include "server/storage/postgresql/pg_database.h"
#include "server/storage/postgresql/pg_statement.h"
#include "server/storage/tables/prefetcher.h"
#include "server/storage/tables/text_field.h"

namespace telemetry::storage::postgresql {

// A Prefetcher for PostgreSQL. Finds the runs and configs that a transaction's records name. Creates the new runs that
// its run, run config and IR graph records describe, and the new configs whose texts arrive. Uses a fixed number of
// statements for any number of records. All writers lock and create these rows in the same order, so that two writers
// with the same rows wait for each other without a deadlock.
class PgPrefetcher : public tables::Prefetcher {
 public:
  // `database` must outlive this object.
  explicit PgPrefetcher(PgDatabase& database);

  absl::Status PrefetchKeys(absl::Span<const Entry> records, tables::RunTable& runs,
                            tables::ConfigTable& configs) override;
  absl::Status PrefetchRows(absl::Span<const Entry> records, tables::MeasurementTable& measurements,
                            tables::DetailTable& details, tables::EventTable& events) override;

  bool TakeMade(const Entry& entry) override;

  // Sets whether the next transactions look up the rows that are already stored, which costs one index lookup per row.
  // Off at first.
  void set_finds_rows(bool finds_rows) { finds_rows_ = finds_rows; }

 private:
  // A config whose text arrives.
  struct Incoming {
    const std::string* text = nullptr;
    bool is_known = false;
    tables::OptionalText arguments, unsplit;  // as they are stored
  };
  struct Configs {
    absl::flat_hash_set<tables::ConfigTable::Id> named;
    absl::flat_hash_map<tables::ConfigTable::Id, Incoming> incoming;
  };
  using Texts = absl::flat_hash_set<std::string>;
  using Runs = absl::flat_hash_set<std::pair<std::string, int64_t>>;  // run_ids and senders

  absl::Status PrefetchRuns(absl::Span<const Entry> records, tables::RunTable& runs);
  absl::Status FindRuns(const Runs& wanted, tables::RunTable& runs);
  absl::Status PrefetchConfigs(absl::Span<const Entry> records, tables::ConfigTable& configs);
  // Looks up the run configs of runs and configs whose keys are known by now.
  absl::Status PrefetchRunConfigs(absl::Span<const Entry> records, const tables::RunTable& runs,
                                  tables::ConfigTable& configs);

  static Configs Collect(absl::Span<const Entry> records, const tables::ConfigTable& configs);
  absl::Status FindConfigs(Configs& wanted, tables::ConfigTable& configs);
  enum class Of { kAllTexts, kNewConfigs };
  // Returns the arguments that have no key yet.
  static Texts UnknownArguments(const Configs& wanted, Of of, const tables::ConfigTable& configs);
  absl::Status FindArguments(const Texts& texts, tables::ConfigTable& configs);
  absl::Status MakeArguments(const Configs& wanted, tables::ConfigTable& configs);
  // Marks the texts that are already stored as they arrive (ConfigTable::MarkStored).
  static absl::Status MarkStoredTexts(const Configs& wanted, tables::ConfigTable& configs);
  absl::Status MakeConfigs(const Configs& wanted, tables::ConfigTable& configs);

  absl::Status FindMeasurements(absl::Span<const Entry> records, tables::MeasurementTable& measurements);
  absl::Status FindHashes(absl::Span<const Entry> records, tables::MeasurementTable& measurements);
  absl::Status FindDetails(absl::Span<const Entry> records, tables::DetailTable& details);
  absl::Status FindEvents(absl::Span<const Entry> records, tables::EventTable& events);

  bool finds_rows_ = false;
  Runs made_runs_;
  absl::flat_hash_set<tables::ConfigTable::Id> made_configs_;
  const std::unique_ptr<PgStatement> find_runs_;
  const std::unique_ptr<PgStatement> make_runs_;
  const std::unique_ptr<PgStatement> find_run_configs_;
  const std::unique_ptr<PgStatement> find_configs_;
  const std::unique_ptr<PgStatement> make_configs_;
  const std::unique_ptr<PgStatement> find_arguments_;
  const std::unique_ptr<PgStatement> make_arguments_;
  const std::unique_ptr<PgStatement> find_measurements_;
  const std::unique_ptr<PgStatement> find_hashes_;
  const std::unique_ptr<PgStatement> find_details_;
  const std::unique_ptr<PgStatement> find_events_;
};

}  // namespace telemetry::storage::postgresql
