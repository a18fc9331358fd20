#include "server/storage/config_table.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/record/json.h"
#include "proto/record/python_literal.h"
#include "server/storage/row_key.h"

namespace telemetry::storage {
namespace {

// Caches that outgrow these start anew: some 10 MiB each at most.
constexpr size_t kMostCachedKeys = 1 << 18;
constexpr size_t kMostCachedArguments = 1 << 15;

bool SameConfig(std::string_view one, std::string_view other) {
  absl::StatusOr<record::Json> a = record::ParseConfig(one);
  absl::StatusOr<record::Json> b = record::ParseConfig(other);
  return a.ok() && b.ok() && record::ToCanonicalJson(*a) == record::ToCanonicalJson(*b);
}

}  // namespace

ConfigTable::ConfigTable(Database& database, RunTable& runs, const CurrentSender& sender)
    : runs_(runs),
      sender_(sender),
      find_(database, "SELECT config FROM configs WHERE config_id = ?1"),
      insert_(database, "INSERT INTO configs (config_id) VALUES (?1) ON CONFLICT DO NOTHING RETURNING config"),
      insert_with_text_(database,
                        "INSERT INTO configs (config_id, arguments, unsplit_text) VALUES (?1, ?2, ?3) "
                        "ON CONFLICT DO NOTHING RETURNING config"),
      lock_text_(database,
                 "SELECT arguments IS NOT NULL OR unsplit_text IS NOT NULL FROM configs WHERE config = ?1 "
                 "/*postgresql FOR NO KEY UPDATE */"),
      read_text_(database, "SELECT text FROM config_texts WHERE config = ?1"),
      write_text_(database, "UPDATE configs SET arguments = ?2, unsplit_text = ?3 WHERE config = ?1"),
      find_argument_(
          database,
          "SELECT argument FROM config_arguments WHERE /*postgresql text_sha256 = text_sha256(?1) AND */ text = ?1"),
      insert_argument_(database,
                       "INSERT INTO config_arguments (text) VALUES (?1) ON CONFLICT DO NOTHING RETURNING argument"),
      read_run_config_(
          database,
          "SELECT c.key_list, l.keys_json, c.sample_id, c.decorator, coalesce(c.sender, 0) FROM run_configs AS c "
          "LEFT JOIN key_lists AS l ON l.key_list = c.key_list WHERE c.run = ?1 AND c.config = ?2"),
      write_run_config_(database,
                        "INSERT INTO run_configs (run, config, key_list, sample_id, decorator, sender) "
                        "VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (run, config) DO UPDATE SET "
                        "key_list = excluded.key_list, sample_id = excluded.sample_id, decorator = excluded.decorator"),
      find_key_list_(
          database,
          "SELECT key_list FROM key_lists WHERE /*postgresql keys_sha256 = text_sha256(?1) AND */ keys_json = ?1"),
      insert_key_list_(database,
                       "INSERT INTO key_lists (keys_json) VALUES (?1) ON CONFLICT DO NOTHING RETURNING key_list") {}

void ConfigTable::Forget() {
  keys_.clear();
  arguments_.clear();
  settled_.clear();
}

void ConfigTable::RememberArgument(const std::string& text, int64_t key) {
  if (arguments_.size() >= kMostCachedArguments) arguments_.clear();
  arguments_.emplace(text, key);
}

void ConfigTable::Remember(uint64_t config_id, int64_t key) {
  if (keys_.size() >= kMostCachedKeys) keys_.clear();
  keys_.emplace(config_id, key);
}

absl::StatusOr<int64_t> ConfigTable::KeyOf(uint64_t config_id) {
  if (auto it = keys_.find(config_id); it != keys_.end()) return it->second;
  absl::StatusOr<int64_t> key = KeyOfRow(find_.Bind(config_id), insert_.Bind(config_id));
  if (key.ok()) Remember(config_id, *key);
  return key;
}

absl::Status ConfigTable::Store(const v1::Config& config, MaybeRefusal& refusal) {
  if (auto it = settled_.find(config.config_id()); it != settled_.end() && *it->second == config.text()) {
    return absl::OkStatus();
  }
  absl::StatusOr<bool> stored = InsertNew(config);
  if (!stored.ok() || *stored) return stored.status();
  absl::StatusOr<int64_t> key = KeyOf(config.config_id());
  return key.ok() ? Merge(*key, config.text(), refusal) : key.status();
}

absl::StatusOr<bool> ConfigTable::InsertNew(const v1::Config& config) {
  if (keys_.contains(config.config_id())) return false;
  absl::StatusOr<std::optional<int64_t>> key = find_.Bind(config.config_id()).QueryInt();
  if (!key.ok()) return key.status();
  if (key->has_value()) {
    Remember(config.config_id(), **key);
    return false;
  }
  absl::StatusOr<StoredText> text = Encode(config.text());
  if (!text.ok()) return text.status();
  key = insert_with_text_.Bind(config.config_id(), text->arguments, text->unsplit).QueryInt();
  if (!key.ok()) return key.status();
  if (!key->has_value()) return false;
  Remember(config.config_id(), **key);
  return true;
}

absl::Status ConfigTable::Merge(int64_t config, const std::string& text, MaybeRefusal& refusal) {
  // All who run a kernel send its configs: of equal ones none waits for another.
  absl::StatusOr<std::string> stored = ReadText(config);
  if (!stored.ok() || *stored == text) return stored.status();
  const absl::StatusOr<std::optional<int64_t>> known = lock_text_.Bind(config).QueryInt();
  if (!known.ok()) return known.status();
  if (known->value_or(0) == 0) return WriteText(config, text);
  // Another writer may have changed it before it was locked.
  stored = ReadText(config);
  if (!stored.ok() || *stored == text) return stored.status();
  if (!SameConfig(*stored, text)) {
    refusal = Conflict("text is another config than the one stored under this config_id");
    return absl::OkStatus();
  }
  return text < *stored ? WriteText(config, text) : absl::OkStatus();
}

absl::StatusOr<std::string> ConfigTable::ReadText(int64_t config) {
  absl::StatusOr<bool> found = read_text_.Bind(config).Step();
  if (!found.ok()) return found.status();
  std::string text(read_text_.Text(0));
  read_text_.Reset();
  return text;
}

absl::StatusOr<ConfigTable::StoredText> ConfigTable::Encode(std::string_view text) {
  const std::vector<std::string_view> pieces = record::SplitConfigArguments(text);
  if (pieces.empty()) return StoredText{.arguments = {}, .unsplit = text};
  std::string arguments;
  for (std::string_view piece : pieces) {
    absl::StatusOr<int64_t> key = ArgumentKey(piece);
    if (!key.ok()) return key.status();
    absl::StrAppend(&arguments, arguments.empty() ? "[" : ",", *key);
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
  absl::StatusOr<int64_t> run = runs_.KeyOf(config.run_id());
  if (!run.ok()) return run.status();
  absl::StatusOr<int64_t> key = KeyOf(config.config_id());
  if (!key.ok()) return key.status();
  absl::StatusOr<bool> found = read_run_config_.Bind(*run, *key).Step();
  if (!found.ok()) return found.status();

  std::optional<int64_t> key_list;
  bool foreign = false;
  OptionalText keys_json, sample_id, decorator;
  if (*found) {
    key_list = IntColumn(read_run_config_, 0);
    keys_json = TextColumn(read_run_config_, 1);
    sample_id = BytesColumn(read_run_config_, 2);
    decorator = TextColumn(read_run_config_, 3);
    foreign = sender_.IsForeignTo(read_run_config_.Int(4));
    read_run_config_.Reset();
  }
  FieldMerge merge;
  merge.Field("sample_id", sample_id, TELEMETRY_OPTIONAL(config, sample_id));
  merge.Field("decorator", decorator, TELEMETRY_OPTIONAL(config, decorator));
  if (merge.conflict()) {
    refusal = std::move(merge.conflict());
    return absl::OkStatus();
  }
  absl::StatusOr<std::optional<int64_t>> new_list = std::nullopt;
  if (!foreign || !keys_json) new_list = KeyListKey(config, keys_json);
  if (!new_list.ok()) return new_list.status();
  if (new_list->has_value()) key_list = *new_list;
  if (*found && !merge.changed() && !new_list->has_value()) return absl::OkStatus();
  const std::optional<Blob> sample = sample_id ? std::optional<Blob>(Blob{*sample_id}) : std::nullopt;
  return write_run_config_.Bind(*run, *key, key_list, sample, decorator, sender_.column()).Run();
}

// The key of the record's key list when it is to replace the stored one.
absl::StatusOr<std::optional<int64_t>> ConfigTable::KeyListKey(const v1::RunConfig& config,
                                                               const OptionalText& stored) {
  if (!config.has_record_keys_json() || (stored && *stored <= config.record_keys_json())) return std::nullopt;
  const std::string& keys_json = config.record_keys_json();
  const absl::StatusOr<int64_t> key = KeyOfRow(find_key_list_.Bind(keys_json), insert_key_list_.Bind(keys_json));
  if (!key.ok()) return key.status();
  return *key;
}

}  // namespace telemetry::storage
