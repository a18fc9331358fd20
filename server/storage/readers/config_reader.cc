#include "server/storage/readers/config_reader.h"

#include <charconv>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace telemetry::storage::readers {
namespace {

// Limit of the cached texts of arguments.
constexpr uint64_t kMostArgumentBytes = uint64_t{2} << 20;
// The number of ids that a stream caches: 128 KiB.
constexpr size_t kRememberedIds = 8192;

size_t FirstOfSet(int64_t config) { return static_cast<size_t>(config) % (kRememberedIds / 2) * 2; }

}  // namespace

ConfigReader::ConfigReader(sql::Database& database)
    : arguments_(kMostArgumentBytes),
      read_(database, "SELECT config, config_id, sender, arguments, unsplit_text FROM configs WHERE config = ?1"),
      read_many_(database, "config, config_id, sender, arguments, unsplit_text", "configs", "config = k.column1", 0),
      read_argument_(database, "SELECT text FROM config_arguments WHERE argument = ?1"),
      read_nameless_(database,
                     "SELECT config, config_id, sender, arguments, unsplit_text FROM configs "
                     "WHERE config_id = ?1 AND (sender = 0 OR ?2 = 0) "
                     "AND (arguments IS NOT NULL OR unsplit_text IS NOT NULL) ORDER BY sender LIMIT 1") {}

void ConfigReader::BeginSender(int64_t sender) {
  if (sender != seen_->sender) seen_->announced.clear();
  seen_->sender = sender;
}

bool ConfigReader::IsAnnounced(int64_t config) const {
  const auto key = static_cast<size_t>(config);
  return key < seen_->announced.size() && seen_->announced[key];
}

bool ConfigReader::IsRemembered(int64_t config) const {
  if (seen_->ids.empty()) return false;
  const Seen::Entry* const set = &seen_->ids[FirstOfSet(config)];
  return set[0].config == config || set[1].config == config;
}

ConfigReader::Seen::Entry* ConfigReader::EntryFor(int64_t config) {
  if (seen_->ids.empty()) seen_->ids.resize(kRememberedIds);
  Seen::Entry* const set = &seen_->ids[FirstOfSet(config)];
  if (set[0].config != config) std::swap(set[0], set[1]);
  return &set[0];
}

absl::StatusOr<uint64_t> ConfigReader::Id(int64_t config, v1::ExportConfigs* announced) {
  Seen::Entry* const entry = EntryFor(config);
  const bool is_announced = announced == nullptr || IsAnnounced(config);
  if (entry->config != config || !is_announced) {
    RETURN_IF_ERROR(Load(config, is_announced ? nullptr : announced, entry));
  }
  return entry->id;
}

absl::StatusOr<v1::Config> ConfigReader::Read(int64_t config) {
  ASSIGN_OR_RETURN(const Row* const row, Find(config));
  v1::Config entry;
  RETURN_IF_ERROR(Fill(*row, &entry));
  return entry;
}

absl::Status ConfigReader::Prefetch(absl::Span<const int64_t> configs, bool announces) {
  std::vector<int64_t> unknown;
  for (const int64_t config : configs) {
    if (!IsRemembered(config) || (announces && !IsAnnounced(config))) unknown.push_back(config);
  }
  BeginPrefetch();
  return read_many_.Read({}, unknown, [this](const sql::Statement& row) {
    AddPrefetched(row, 0);
    return absl::OkStatus();
  });
}

absl::Status ConfigReader::Load(int64_t config, v1::ExportConfigs* announced, Seen::Entry* entry) {
  ASSIGN_OR_RETURN(const Row* const row, Find(config));
  *entry = {.config = config, .id = row->id};
  if (announced == nullptr) return absl::OkStatus();
  const auto key = static_cast<size_t>(config);
  if (key >= seen_->announced.size()) seen_->announced.resize(key + key / 2 + 64);
  seen_->announced[key] = true;
  return Fill(*row, announced->add_configs());
}

ConfigReader::Row ConfigReader::ReadRow(const sql::Statement& row, int column) {
  const auto text = [&row](int at) { return row.IsNull(at) ? std::nullopt : std::optional<std::string>(row.Text(at)); };
  return {.id = static_cast<uint64_t>(row.Int(column + 1)),
          .sender = row.Int(column + 2),
          .arguments = text(column + 3),
          .unsplit = text(column + 4)};
}

absl::StatusOr<const ConfigReader::Row*> ConfigReader::Find(int64_t config) {
  if (const auto known = rows_.find(config); known != rows_.end()) return &known->second;
  ASSIGN_OR_RETURN(const bool found, read_.Bind(config).Step());
  if (!found) return absl::DataLossError(absl::StrCat("config ", config, " is referenced but missing"));
  found_ = ReadRow(read_);
  read_.Reset();
  return &found_;
}

absl::Status ConfigReader::Fill(const Row& row, v1::Config* entry) {
  entry->set_config_id(row.id);
  absl::StatusOr<bool> filled = FillText(row, entry->mutable_text());
  if (!filled.ok() || *filled) return filled.status();
  // A text from a sender without a name replaces a missing one, and any sender's text replaces one that is missing for
  // a config without a sender's name.
  const absl::StatusOr<bool> found = read_nameless_.Bind(row.id, row.sender).Step();
  if (!found.ok() || !*found) return found.status();
  filled = FillText(ReadRow(read_nameless_), entry->mutable_text());
  read_nameless_.Reset();
  return filled.status();
}

absl::StatusOr<bool> ConfigReader::FillText(const Row& row, std::string* text) {
  *text = row.unsplit.value_or("");
  if (!row.arguments.has_value()) return row.unsplit.has_value();
  RETURN_IF_ERROR(AppendText(*row.arguments, text));
  return true;
}

absl::Status ConfigReader::AppendText(std::string_view arguments, std::string* text) {
  text->append("Config(");
  const char* at = arguments.data();
  const char* const end = at + arguments.size();
  for (bool first = true; ++at < end; first = false) {  // skips '[', then each ','
    int64_t key = 0;
    const auto [next, error] = std::from_chars(at, end, key);
    if (error != std::errc()) return absl::DataLossError("configs.arguments is not an array of keys");
    ASSIGN_OR_RETURN(const std::string* const argument, Argument(key));
    if (!first) text->append(", ");
    text->append(*argument);
    at = next;
    if (at != end && *at == ']') break;
  }
  text->push_back(')');
  return absl::OkStatus();
}

absl::StatusOr<const std::string*> ConfigReader::Argument(int64_t argument) {
  if (const auto known = arguments_.find(argument); known != arguments_.end()) return &known->second;
  ASSIGN_OR_RETURN(const bool found, read_argument_.Bind(argument).Step());
  if (!found) return absl::DataLossError(absl::StrCat("config argument ", argument, " is referenced but missing"));
  found_argument_ = read_argument_.String(0);
  read_argument_.Reset();
  arguments_.emplace(argument, found_argument_);
  const auto cached = arguments_.find(argument);
  return cached == arguments_.end() ? &found_argument_ : &cached->second;
}

}  // namespace telemetry::storage::readers
