#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/refusal.h"
#include "server/storage/sql/statement.h"
#include "server/storage/tables/byte_bounded_cache.h"
#include "server/storage/tables/cache_budgets.h"
#include "server/storage/tables/sender_table.h"
#include "server/storage/tables/text_field.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::storage::tables {

// The tables runs, run_settings and kernels. Each sender has its own run under a run_id; methods work on those of the
// current sender unless noted otherwise. Part of the writer: used by one thread, inside the writer's transaction.
class RunTable {
 public:
  // `sender` must outlive this object.
  RunTable(sql::Database& database, const CurrentSender& sender);

  // Merges the record into the sender's description of its run.
  absl::Status Store(const v1::Run& run, MaybeRefusal& refusal);

  // Returns the run's key, or 0 if the sender has not named the run.
  absl::StatusOr<int64_t> Find(const std::string& run_id);
  // Returns the run's key. Creates a row with only the run_id if the sender has not named the run.
  absl::StatusOr<int64_t> FindOrInsertKey(const std::string& run_id);
  // Locks a run of any sender by its key, if other processes write to the database. Returns ABORTED if the run no
  // longer exists.
  absl::Status Lock(int64_t run);
  // Caches a key that a Prefetcher has found (prefetcher.h). The run is locked if other processes write to the
  // database.
  void Remember(const std::string& run_id, int64_t sender, int64_t key);
  std::optional<int64_t> KnownKey(const std::string& run_id, int64_t sender) const;

  // Discards cached state of a transaction that will not be committed.
  void Forget() { keys_.clear(); }

 private:
  struct Kernel {
    OptionalText kernel_id, name, source;
  };
  struct Row {
    Kernel kernel;
    std::optional<int64_t> kernel_key;
    OptionalText input_shapes, dtypes, hardware, settings_signature, extra_json;
  };

  absl::StatusOr<Row> Read(int64_t run);
  absl::StatusOr<int64_t> KernelKey(const Kernel& kernel);
  absl::Status Write(int64_t run, const Row& row);
  absl::Status DropUnusedKernel(std::optional<int64_t> kernel);

  const CurrentSender& sender_;
  ByteBoundedCache<std::pair<std::string, int64_t>, int64_t> keys_{kRunCacheBytes};  // by run_id and sender
  sql::Statement find_;
  sql::Statement insert_;
  sql::Statement lock_;
  sql::Statement read_;
  sql::Statement update_;
  sql::Statement add_settings_;
  sql::Statement find_kernel_;
  sql::Statement insert_kernel_;
  sql::Statement drop_kernel_;
};

}  // namespace telemetry::storage::tables
