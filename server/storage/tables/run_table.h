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

namespace telemetry::storage {

// Tables runs, run_settings and kernels. Under one run_id each sender has a run of its own: all of these are about the
// current sender's, unless they say otherwise. Part of the writer: one thread, inside its transaction.
class RunTable {
 public:
  // `sender` must outlive this.
  RunTable(Database& database, const CurrentSender& sender);

  // Merges the record into what the sender has said of its run.
  absl::Status Store(const v1::Run& run, MaybeRefusal& refusal);

  // The run's key; 0: the sender has not named it.
  absl::StatusOr<int64_t> Find(const std::string& run_id);
  // The run's key. A run that the sender has not named becomes a row that has only its run_id.
  absl::StatusOr<int64_t> KeyOf(const std::string& run_id);
  // Locks a run of any sender by its key, where others write, too. ABORTED: it has gone.
  absl::Status Lock(int64_t run);
  // Found out beforehand (look_ahead.h), and locked where others write, too.
  void Remember(const std::string& run_id, int64_t sender, int64_t key);
  std::optional<int64_t> KnownKey(const std::string& run_id, int64_t sender) const;

  // Forgets what was remembered of the transaction that is not going to be committed.
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
  Statement find_;
  Statement insert_;
  Statement lock_;
  Statement read_;
  Statement update_;
  Statement add_settings_;
  Statement find_kernel_;
  Statement insert_kernel_;
  Statement drop_kernel_;
};

}  // namespace telemetry::storage
