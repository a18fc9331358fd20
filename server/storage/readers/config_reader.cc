#include "server/storage/readers/config_reader.h"

#include <charconv>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace telemetry::storage::readers {
namespace {

// Limit of the cached texts of arguments, which many configs share.
constexpr size_t kMostArgumentBytes = size_t{2} << 20;
// The number of ids that a stream caches: 128 KiB.
constexpr size_t kRememberedIds = 8192;

}  // namespace

ConfigReader::ConfigReader(sql::Database& database)
    : read_(database, "SELECT config_id, arguments, unsplit_text, sender FROM configs WHERE config = ?1"),
      read_argument_(database, "SELECT text FROM config_arguments WHERE argument = ?1"),
      read_nameless_(database,
                     "SELECT arguments, unsplit_text FROM configs WHERE config_id = ?1 AND (sender = 0 OR ?2 = 0) "
                     "AND (arguments IS NOT NULL OR unsplit_text IS NOT NULL) ORDER BY sender LIMIT 1") {}

void ConfigReader::BeginSender(int64_t sender) {
  if (sender != seen_->sender) seen_->announced.clear();
  seen_->sender = sender;
}

absl::StatusOr<uint64_t> ConfigReader::Id(int64_t config, v1::ExportConfigs* announced) {
  if (seen_->ids.empty()) seen_->ids.resize(kRememberedIds);
  Seen::Entry& entry = seen_->ids[static_cast<size_t>(config) % kRememberedIds];
  const auto key = static_cast<size_t>(config);
  const bool is_announced = announced == nullptr || (key < seen_->announced.size() && seen_->announced[key]);
  if (entry.config != config || !is_announced) {
    RETURN_IF_ERROR(Load(config, is_announced ? nullptr : announced, &entry));
  }
  return entry.id;
}

absl::StatusOr<v1::Config> ConfigReader::Read(int64_t config) {
  RETURN_IF_ERROR(Find(config));
  v1::Config entry;
  RETURN_IF_ERROR(Fill(&entry));
  read_.Reset();
  return entry;
}

absl::Status ConfigReader::Load(int64_t config, v1::ExportConfigs* announced, Seen::Entry* entry) {
  RETURN_IF_ERROR(Find(config));
  *entry = {.config = config, .id = static_cast<uint64_t>(read_.Int(0))};
  if (announced != nullptr) {
    const auto key = static_cast<size_t>(config);
    if (key >= seen_->announced.size()) seen_->announced.resize(key + key / 2 + 64);
    seen_->announced[key] = true;
    RETURN_IF_ERROR(Fill(announced->add_configs()));
  }
  read_.Reset();
  return absl::OkStatus();
}

absl::Status ConfigReader::Find(int64_t config) {
  ASSIGN_OR_RETURN(bool found, read_.Bind(config).Step());
  if (!found) return absl::DataLossError(absl::StrCat("config ", config, " is referenced but missing"));
  return absl::OkStatus();
}

absl::Status ConfigReader::Fill(v1::Config* entry) {
  entry->set_config_id(static_cast<uint64_t>(read_.Int(0)));
  absl::StatusOr<bool> filled = FillText(read_, 1, 2, entry->mutable_text());
  if (!filled.ok() || *filled) return filled.status();
  // A text from a sender without a name replaces a missing one, and any sender's text replaces one that is missing for
  // a config without a sender's name.
  const absl::StatusOr<bool> found = read_nameless_.Bind(entry->config_id(), read_.Int(3)).Step();
  if (!found.ok() || !*found) return found.status();
  filled = FillText(read_nameless_, 0, 1, entry->mutable_text());
  read_nameless_.Reset();
  return filled.status();
}

absl::StatusOr<bool> ConfigReader::FillText(const sql::Statement& row, int arguments, int unsplit, std::string* text) {
  const std::string_view whole = row.Text(unsplit);
  text->assign(whole.data(), whole.size());
  if (row.IsNull(arguments)) return !row.IsNull(unsplit);
  RETURN_IF_ERROR(AppendText(row.Text(arguments), text));
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
  const auto key = static_cast<size_t>(argument);
  if (key >= arguments_.size()) arguments_.resize(key + key / 2 + 64);
  if (!arguments_[key].empty()) return &arguments_[key];
  ASSIGN_OR_RETURN(bool found, read_argument_.Bind(argument).Step());
  if (!found) return absl::DataLossError(absl::StrCat("config argument ", argument, " is referenced but missing"));
  const std::string_view text = read_argument_.Text(0);
  if (argument_bytes_ + text.size() > kMostArgumentBytes) {
    ForgetArguments();
    arguments_.resize(key + 1);
  }
  argument_bytes_ += text.size();
  arguments_[key] = std::string(text);
  read_argument_.Reset();
  return &arguments_[key];
}

}  // namespace telemetry::storage::readers
