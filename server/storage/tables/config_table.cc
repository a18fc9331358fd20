#include "server/storage/tables/config_table.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/json.h"
#include "proto/record/python_literal.h"
#include "server/storage/tables/row_key.h"

namespace telemetry::storage::tables {
namespace {

// The most bytes of an argument. In SQLite a longer one would need overflow pages in the index over the texts, and a
// search in an index copies each text with which it compares: long texts of one sender would slow down all others.
constexpr size_t kMostArgumentBytes = 900;

bool SameConfig(std::string_view one, std::string_view other) {
  absl::StatusOr<record::Json> a = record::ParseConfig(one);
  absl::StatusOr<record::Json> b = record::ParseConfig(other);
  return a.ok() && b.ok() && record::ToCanonicalJson(*a) == record::ToCanonicalJson(*b);
}

}  // namespace

ConfigTable::ConfigTable(sql::Database& database, RunTable& runs, const CurrentSender& sender)
    : runs_(runs),
      sender_(sender),
      find_(database, "SELECT config FROM configs WHERE config_id = ?1 AND sender = ?2"),
      insert_(database,
              "INSERT INTO configs (config_id, sender) VALUES (?1, ?2) ON CONFLICT DO NOTHING RETURNING config"),
      insert_with_text_(database,
                        "INSERT INTO configs (config_id, sender, arguments, unsplit_text) VALUES (?1, ?2, ?3, ?4) "
                        "ON CONFLICT DO NOTHING RETURNING config"),
      lock_text_(database,
                 {.text = "SELECT arguments IS NOT NULL OR unsplit_text IS NOT NULL FROM configs WHERE config = ?1",
                  .lock = sql::RowLock::kNoKeyUpdate}),
      read_text_(database, "SELECT text FROM config_texts WHERE config = ?1"),
      write_text_(database, "UPDATE configs SET arguments = ?2, unsplit_text = ?3 WHERE config = ?1"),
      find_argument_(database, {.text = "SELECT argument FROM config_arguments",
                                .key = "text_sha256 = text_sha256(?1)",
                                .where = "text = ?1"}),
      insert_argument_(database,
                       "INSERT INTO config_arguments (text) VALUES (?1) ON CONFLICT DO NOTHING RETURNING argument"),
      read_run_config_(
          database,
          "SELECT c.key_list, l.keys_json, c.sample_id, c.decorator, coalesce(c.sender, 0) FROM run_configs AS c "
          "LEFT JOIN key_lists AS l ON l.key_list = c.key_list WHERE c.run = ?1 AND c.config = ?2"),
      insert_run_config_(database, sql::BulkInsert{.table = "run_configs",
                                                   .columns = "run, config, key_list, sample_id, decorator, sender"}),
      write_run_config_(database,
                        "INSERT INTO run_configs (run, config, key_list, sample_id, decorator, sender) "
                        "VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (run, config) DO UPDATE SET "
                        "key_list = excluded.key_list, sample_id = excluded.sample_id, decorator = excluded.decorator"),
      find_key_list_(database, {.text = "SELECT key_list FROM key_lists",
                                .key = "keys_sha256 = text_sha256(?1)",
                                .where = "keys_json = ?1"}),
      insert_key_list_(database,
                       "INSERT INTO key_lists (keys_json) VALUES (?1) ON CONFLICT DO NOTHING RETURNING key_list") {}

void ConfigTable::Forget() {
  keys_.clear();
  arguments_.clear();
  key_lists_.clear();
  ForgetPrefetched();
}

void ConfigTable::ForgetPrefetched() {
  stored_texts_.clear();
  run_configs_.clear();
}

std::optional<int64_t> ConfigTable::KnownKey(const Id& id) const {
  const auto it = keys_.find(id);
  return it == keys_.end() ? std::nullopt : std::optional<int64_t>(it->second);
}

void ConfigTable::RememberArgument(const std::string& text, int64_t key) { arguments_.emplace(text, key); }

void ConfigTable::Remember(const Id& id, int64_t key) { keys_.emplace(id, key); }

absl::StatusOr<int64_t> ConfigTable::FindOrInsertKey(uint64_t config_id) {
  const Id id = OwnId(config_id);
  if (auto it = keys_.find(id); it != keys_.end()) return it->second;
  absl::StatusOr<int64_t> key = KeyOfRow(find_.Bind(config_id, id.sender), insert_.Bind(config_id, id.sender));
  if (key.ok()) Remember(id, *key);
  return key;
}

absl::Status ConfigTable::Store(const v1::Config& config, MaybeRefusal& refusal) {
  if (auto it = stored_texts_.find(OwnId(config.config_id()));
      it != stored_texts_.end() && *it->second == config.text()) {
    return absl::OkStatus();
  }
  absl::StatusOr<bool> stored = InsertNew(config);
  if (!stored.ok() || *stored) return stored.status();
  absl::StatusOr<int64_t> key = FindOrInsertKey(config.config_id());
  return key.ok() ? Merge(*key, config.text(), refusal) : key.status();
}

absl::StatusOr<bool> ConfigTable::InsertNew(const v1::Config& config) {
  const Id id = OwnId(config.config_id());
  if (keys_.contains(id)) return false;
  absl::StatusOr<std::optional<int64_t>> key = find_.Bind(id.config_id, id.sender).QueryInt();
  if (!key.ok()) return key.status();
  if (key->has_value()) {
    Remember(id, **key);
    return false;
  }
  ASSIGN_OR_RETURN(StoredText text, Encode(config.text()));
  key = insert_with_text_.Bind(id.config_id, id.sender, text.arguments, text.unsplit).QueryInt();
  if (!key.ok()) return key.status();
  if (!key->has_value()) return false;
  Remember(id, **key);
  return true;
}

absl::Status ConfigTable::Merge(int64_t config, const std::string& text, MaybeRefusal& refusal) {
  // All processes that run a kernel send its configs. Equal texts are detected without a lock, so that their writers do
  // not wait for each other.
  absl::StatusOr<std::string> stored = ReadText(config);
  if (!stored.ok() || *stored == text) return stored.status();
  ASSIGN_OR_RETURN(const std::optional<int64_t> known, lock_text_.Bind(config).QueryInt());
  if (known.value_or(0) == 0) return WriteText(config, text);
  // Another writer may have changed the text before the row was locked.
  stored = ReadText(config);
  if (!stored.ok() || *stored == text) return stored.status();
  if (!SameConfig(*stored, text)) {
    refusal = Conflict("text is another config than the one stored under this config_id");
    return absl::OkStatus();
  }
  return text < *stored ? WriteText(config, text) : absl::OkStatus();
}

absl::StatusOr<std::string> ConfigTable::ReadText(int64_t config) {
  RETURN_IF_ERROR(read_text_.Bind(config).Step().status());
  std::string text(read_text_.Text(0));
  read_text_.Reset();
  return text;
}

std::vector<std::string_view> ConfigTable::SplitArguments(std::string_view text) {
  std::vector<std::string_view> pieces = record::SplitConfigArguments(text);
  const bool is_long = std::any_of(pieces.begin(), pieces.end(),
                                   [](std::string_view piece) { return piece.size() > kMostArgumentBytes; });
  if (is_long) pieces.clear();
  return pieces;
}

absl::StatusOr<ConfigTable::StoredText> ConfigTable::Encode(std::string_view text) {
  const std::vector<std::string_view> pieces = SplitArguments(text);
  if (pieces.empty()) return StoredText{.arguments = {}, .unsplit = text};
  std::string arguments;
  for (std::string_view piece : pieces) {
    ASSIGN_OR_RETURN(int64_t key, ArgumentKey(piece));
    absl::StrAppend(&arguments, arguments.empty() ? "[" : ",", key);
  }
  arguments.push_back(']');
  return StoredText{.arguments = std::move(arguments), .unsplit = {}};
}

absl::Status ConfigTable::WriteText(int64_t config, std::string_view text) {
  absl::StatusOr<StoredText> stored = Encode(text);
  return stored.ok() ? write_text_.Bind(config, stored->arguments, stored->unsplit).Run() : stored.status();
}

absl::StatusOr<int64_t> ConfigTable::ArgumentKey(std::string_view text) {
  std::string argument(text);
  if (auto it = arguments_.find(argument); it != arguments_.end()) return it->second;
  absl::StatusOr<int64_t> key = KeyOfRow(find_argument_.Bind(text), insert_argument_.Bind(text));
  if (key.ok()) RememberArgument(argument, *key);
  return key;
}

absl::Status ConfigTable::Store(const v1::RunConfig& config, MaybeRefusal& refusal) {
  ASSIGN_OR_RETURN(int64_t run, runs_.FindOrInsertKey(config.run_id()));
  ASSIGN_OR_RETURN(int64_t key, FindOrInsertKey(config.config_id()));
  ASSIGN_OR_RETURN(RunConfigRow row, ReadRunConfig(run, key));

  FieldMerge merge;
  merge.Field("sample_id", row.sample_id, TELEMETRY_OPTIONAL(config, sample_id));
  merge.Field("decorator", row.decorator, TELEMETRY_OPTIONAL(config, decorator));
  if (merge.conflict()) {
    refusal = std::move(merge.conflict());
    return absl::OkStatus();
  }
  const bool is_foreign = row.is_stored && sender_.IsForeignTo(row.sender);
  const bool has_new_keys =
      config.has_record_keys_json() && (!row.keys_json || (!is_foreign && config.record_keys_json() < *row.keys_json));
  if (row.is_stored && !merge.changed() && !has_new_keys) return absl::OkStatus();
  if (has_new_keys) {
    ASSIGN_OR_RETURN(const int64_t key_list, KeyListKey(config.record_keys_json()));
    row.key_list = key_list;
    row.keys_json = config.record_keys_json();
  }
  return WriteRunConfig(run, key, std::move(row));
}

absl::StatusOr<ConfigTable::RunConfigRow> ConfigTable::ReadRunConfig(int64_t run, int64_t config) {
  if (auto it = run_configs_.find({run, config}); it != run_configs_.end()) return it->second;
  ASSIGN_OR_RETURN(bool found, read_run_config_.Bind(run, config).Step());
  if (!found) return RunConfigRow{};
  RunConfigRow row{.is_stored = true,
                   .key_list = IntColumn(read_run_config_, 0),
                   .keys_json = TextColumn(read_run_config_, 1),
                   .sample_id = BytesColumn(read_run_config_, 2),
                   .decorator = TextColumn(read_run_config_, 3),
                   .sender = read_run_config_.Int(4)};
  read_run_config_.Reset();
  return row;
}

absl::Status ConfigTable::WriteRunConfig(int64_t run, int64_t config, RunConfigRow row) {
  const auto look = run_configs_.find({run, config});
  const bool is_new = look != run_configs_.end() && !look->second.is_stored;
  const std::optional<sql::Blob> sample =
      row.sample_id ? std::optional<sql::Blob>(sql::Blob{*row.sample_id}) : std::nullopt;
  absl::Status status = (is_new ? insert_run_config_ : write_run_config_)
                            .Bind(run, config, row.key_list, sample, row.decorator, sender_.column())
                            .Run();
  if (!status.ok() || look == run_configs_.end()) return status;
  if (!row.is_stored) row.sender = sender_.column().value_or(0);
  row.is_stored = true;
  look->second = std::move(row);
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ConfigTable::KeyListKey(const std::string& keys_json) {
  if (auto it = key_lists_.find(keys_json); it != key_lists_.end()) return it->second;
  ASSIGN_OR_RETURN(int64_t key, KeyOfRow(find_key_list_.Bind(keys_json), insert_key_list_.Bind(keys_json)));
  key_lists_.emplace(keys_json, key);
  return key;
}

}  // namespace telemetry::storage::tables
