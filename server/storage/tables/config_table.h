#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

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

namespace telemetry::storage {

// Tables configs, config_arguments, run_configs and key_lists. Under one config_id each sender has a config of its own,
// and all of these are about the current sender's. Part of the writer: one thread, inside its transaction.
class ConfigTable {
 public:
  // `runs` and `sender` must outlive this.
  ConfigTable(Database& database, RunTable& runs, const CurrentSender& sender);

  // Stores the config's text. Two texts of one config from one sender (arguments in another order) become the smaller
  // one by bytes, so that the order of arrival does not matter; texts that are not the same config are a conflict.
  absl::Status Store(const v1::Config& config, MaybeRefusal& refusal);

  // Merges what a run determines of a config. Of several key orders the smaller by bytes is kept,
  // or somebody else's that is there.
  absl::Status Store(const v1::RunConfig& config, MaybeRefusal& refusal);

  // The config's key. A config that the sender has not named becomes a row without a text.
  absl::StatusOr<int64_t> KeyOf(uint64_t config_id);

  // A config_id and its sender, as CurrentSender::key.
  struct Id {
    uint64_t config_id = 0;
    int64_t sender = 0;

    bool operator==(const Id&) const = default;
    template <typename Hash>
    friend Hash AbslHashValue(Hash hash, const Id& id) {
      return Hash::combine(std::move(hash), id.config_id, id.sender);
    }
  };

  // A text as the columns `arguments` and `unsplit_text` hold it.
  struct StoredText {
    OptionalText arguments;
    std::optional<std::string_view> unsplit;  // a part of the text
  };
  // Arguments that are not known become rows.
  absl::StatusOr<StoredText> Encode(std::string_view text);

  // What is found out beforehand (look_ahead.h).
  bool Knows(const Id& id) const { return keys_.contains(id); }
  bool KnowsArgument(const std::string& text) const { return arguments_.contains(text); }
  void Remember(const Id& id, int64_t key);
  void RememberArgument(const std::string& text, int64_t key);
  // What a run determines of a config, as it is stored.
  struct RunConfigRow {
    bool is_stored = false;
    std::optional<int64_t> key_list;
    OptionalText keys_json, sample_id, decorator;
    int64_t sender = 0;
  };
  std::optional<int64_t> KnownKey(const Id& id) const;
  // The run is locked: until the transaction's end the row is as it says.
  void Remember(int64_t run, int64_t config, RunConfigRow row) { run_configs_[{run, config}] = std::move(row); }
  // The text is stored: it need not be when it comes. It lives until ForgetLook.
  void Settle(const Id& id, const std::string& text) { settled_.emplace(id, &text); }
  // What holds for one transaction alone.
  void ForgetLook();

  // Forgets what was remembered of the transaction that is not going to be committed.
  void Forget();

 private:
  // True: the config was not known, and is stored now.
  absl::StatusOr<bool> InsertNew(const v1::Config& config);
  absl::Status Merge(int64_t config, const std::string& text, MaybeRefusal& refusal);
  // Empty: its text has not come.
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
  absl::flat_hash_map<Id, const std::string*> settled_;
  absl::flat_hash_map<std::pair<int64_t, int64_t>, RunConfigRow> run_configs_;  // by run and config

  Statement find_;
  Statement insert_;
  Statement insert_with_text_;
  Statement lock_text_;
  Statement read_text_;
  Statement write_text_;
  Statement find_argument_;
  Statement insert_argument_;
  Statement read_run_config_;
  Statement insert_run_config_;
  Statement write_run_config_;
  Statement find_key_list_;
  Statement insert_key_list_;
};

}  // namespace telemetry::storage
