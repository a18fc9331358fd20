#include "server/web/api/config_text.h"

#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/python_literal.h"
#include "server/web/api/call.h"

namespace telemetry::web::api {

absl::StatusOr<ConfigTexts::Config> ConfigTexts::Read(int64_t config) {
  ASSIGN_OR_RETURN(v1::Config read, reader_.Read(config));
  Config entry = {.id = record::FormatConfigId(read.config_id())};
  if (!read.text().empty()) entry.text = std::move(*read.mutable_text());
  return entry;
}

absl::StatusOr<ConfigTexts::Config> ConfigTexts::ReadCut(int64_t config) {
  ASSIGN_OR_RETURN(Config entry, Read(config));
  if (entry.text.has_value()) entry.text = json::CleanText(*entry.text, json::kListTextBytes);
  return entry;
}

absl::StatusOr<std::vector<int64_t>> FindConfigs(storage::sql::Database& dataset, const std::string& config_id) {
  ASSIGN_OR_RETURN(const uint64_t id, record::ParseConfigId(config_id));
  storage::sql::Statement find(dataset, "SELECT config FROM configs WHERE config_id = ?1 ORDER BY config LIMIT 1000");
  find.Bind(id);
  std::vector<int64_t> configs;
  RETURN_IF_ERROR(ForEachRow(find, [&] {
    configs.push_back(find.Int(0));
    return absl::OkStatus();
  }));
  return configs;
}

absl::StatusOr<std::optional<int64_t>> ConfigOfRow(storage::sql::Database& dataset, const storage::sql::AttemptKey& key,
                                                   int64_t seq) {
  storage::sql::Statement row(
      dataset,
      {.text = "SELECT config FROM measurements", .key = storage::sql::kInRun, .where = "attempt = ?1 AND seq = ?2"});
  return row.Bind(storage::sql::InRun{key.run}, key.attempt, seq).QueryInt();
}

std::optional<std::string> ConfigJson(const std::string& text) {
  const absl::StatusOr<record::Json> parsed = record::ParseConfig(text);
  return parsed.ok() ? std::optional(record::ToJson(*parsed)) : std::nullopt;
}

}  // namespace telemetry::web::api
