#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/refusal.h"
#include "server/storage/sql/statement.h"
#include "server/storage/tables/byte_bounded_cache.h"
#include "server/storage/tables/cache_budgets.h"
#include "server/storage/tables/run_table.h"
#include "server/storage/tables/sender_table.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::storage::tables {

// The tables configs, config_arguments, run_configs and key_lists. Each sender has its own config under a config_id;
// this class works on those of the current sender. Part of the writer: used by one thread, inside the writer's
// transaction.
class ConfigTable {
 public:
  // `runs` and `sender` must outlive this object.
  ConfigTable(sql::Database& database, RunTable& runs, const CurrentSender& sender);

  // Stores the config's text. If one sender sends two texts of one config (arguments in another order), the smaller one
  // by bytes is kept, so that the order of arrival does not matter. Texts of different configs are a conflict.
  absl::Status Store(const v1::Config& config, MaybeRefusal& refusal);

  // Merges the fields that a run determines of a config. Of several key orders, the smaller one by bytes is kept, but a
  // key order of another sender that is already stored stays.
  absl::Status Store(const v1::RunConfig& config, MaybeRefusal& refusal);

  // Returns the config's key. Creates a row without a text if the sender has not named the config.
  absl::StatusOr<int64_t> FindOrInsertKey(uint64_t config_id);

  // A config_id and its sender (CurrentSender::key).
  struct Id {
    uint64_t config_id = 0;
    int64_t sender = 0;

    bool operator==(const Id&) const = default;
    template <typename Hash>
    friend Hash AbslHashValue(Hash hash, const Id& id) {
      return Hash::combine(std::move(hash), id.config_id, id.sender);
    }
  };

  // A config's text as the columns `arguments` and `unsplit_text` store it.
  struct StoredText {
    OptionalText arguments;
    std::optional<std::string_view> unsplit;  // a view into the text
  };
  // Returns the arguments of a text as views into it. Empty: the text is not a plain list of arguments, or one of them
  // is too long for `config_arguments`; such a text is stored whole.
  static std::vector<std::string_view> SplitArguments(std::string_view text);
  // Splits a text into its stored form. Creates rows for unknown arguments.
  absl::StatusOr<StoredText> Encode(std::string_view text);

  // Methods for a Prefetcher (prefetcher.h), which fills the caches before the records are stored.
  bool Knows(const Id& id) const { return keys_.contains(id); }
  bool KnowsArgument(const std::string& text) const { return arguments_.contains(text); }
  void Remember(const Id& id, int64_t key);
  void RememberArgument(const std::string& text, int64_t key);
  // The fields that a run determines of a config, as they are stored.
  struct RunConfigRow {
    bool is_stored = false;
    std::optional<int64_t> key_list;
    OptionalText keys_json, sample_id, decorator;
    int64_t sender = 0;
  };
  std::optional<int64_t> KnownKey(const Id& id) const;
  // Caches the stored row until the end of the transaction. The run is locked, so no other writer can change it.
  void Remember(int64_t run, int64_t config, RunConfigRow row) { run_configs_[{run, config}] = std::move(row); }
  // Notes that `text` is already stored, so that the record with it needs no work. `text` must live until
  // ForgetPrefetched().
  void MarkStored(const Id& id, const std::string& text) { stored_texts_.emplace(id, &text); }
  // Discards the state that is valid for one transaction only.
  void ForgetPrefetched();

  // Discards cached state of a transaction that will not be committed.
  void Forget();

 private:
  // Returns true if the config was unknown and has been stored.
  absl::StatusOr<bool> InsertNew(const v1::Config& config);
  absl::Status Merge(int64_t config, const std::string& text, MaybeRefusal& refusal);
  // Returns an empty string if the config's text has not arrived.
  absl::StatusOr<std::string> ReadText(int64_t config);
  absl::Status WriteText(int64_t config, std::string_view text);
  absl::StatusOr<int64_t> ArgumentKey(std::string_view text);
  absl::StatusOr<RunConfigRow> ReadRunConfig(int64_t run, int64_t config);
  absl::Status WriteRunConfig(int64_t run, int64_t config, RunConfigRow row);
  absl::StatusOr<int64_t> KeyListKey(const std::string& keys_json);

  Id OwnId(uint64_t config_id) const { return {.config_id = config_id, .sender = sender_.key()}; }

  RunTable& runs_;
  const CurrentSender& sender_;
  ByteBoundedCache<Id, int64_t> keys_{kConfigKeyCacheBytes};
  ByteBoundedCache<std::string, int64_t> arguments_{kArgumentCacheBytes};
  ByteBoundedCache<std::string, int64_t> key_lists_{kKeyListCacheBytes};
  absl::flat_hash_map<Id, const std::string*> stored_texts_;
  absl::flat_hash_map<std::pair<int64_t, int64_t>, RunConfigRow> run_configs_;  // by run and config

  sql::Statement find_;
  sql::Statement insert_;
  sql::Statement insert_with_text_;
  sql::Statement lock_text_;
  sql::Statement read_text_;
  sql::Statement write_text_;
  sql::Statement find_argument_;
  sql::Statement insert_argument_;
  sql::Statement read_run_config_;
  sql::Statement insert_run_config_;
  sql::Statement write_run_config_;
  sql::Statement find_key_list_;
  sql::Statement insert_key_list_;
};

}  // namespace telemetry::storage::tables
