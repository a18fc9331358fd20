#include "server/web/api/repro_command.h"

#include "proto/base/status_macros.h"
#include "proto/record/json.h"
#include "proto/record/strings.h"
#include "server/web/api/common.h"
#include "server/web/api/config_text.h"

namespace telemetry::web::api {

using json::JsonWriter;
using json::Whole;
using storage::sql::Statement;

std::optional<std::string> ReproCommand(const Call& call, const std::string& run_id, const std::string& config_id,
                                        const std::string& dialect) {
  if (!dialect.empty()) return std::nullopt;
  const std::vector<CollectorHealth> collectors = call.state.collectors();
  const std::string address = collectors.empty() ? "COLLECTOR:4747" : collectors.front().address;
  return record::Cat("telemetry-worker repro ", run_id, " --config-id ", config_id, " --collector ", address);
}

absl::Status WriteConfigMembers(const Call& call, int64_t run, int64_t config, const std::string& dialect,
                                JsonWriter& out) {
  ASSIGN_OR_RETURN(const ConfigTexts::Config text, ConfigTexts(call.dataset).Read(config));
  const std::optional<std::string> as_json = text.text.has_value() ? ConfigJson(*text.text) : std::nullopt;
  Statement decorator(call.dataset, "SELECT decorator FROM run_configs WHERE run = ?1 AND config = ?2");
  ASSIGN_OR_RETURN(const bool found, decorator.Bind(run, config).Step());
  out.Field("config_id", text.id);
  text.text.has_value() ? out.Field("text", Whole{*text.text}) : out.Field("text", nullptr);
  as_json.has_value() ? out.Field("json", Whole{*as_json}) : out.Field("json", nullptr);
  found && !decorator.IsNull(0) ? out.Field("decorator", Whole{decorator.Text(0)}) : out.Field("decorator", nullptr);
  out.Field("dialect", dialect);
  return absl::OkStatus();
}

absl::Status WriteConfigText(const Call& call, int64_t run, int64_t config, const std::string& dialect,
                             std::string_view key, JsonWriter& out) {
  out.BeginObject(key);
  RETURN_IF_ERROR(WriteConfigMembers(call, run, config, dialect, out));
  out.EndObject();
  return absl::OkStatus();
}

void WriteJsonColumn(JsonWriter& out, std::string_view key, const Statement& row, int column) {
  const absl::StatusOr<record::Json> json = record::ParseJson(row.Text(column));
  out.Key(key);
  const bool is_object = !row.IsNull(column) && json.ok() && json->kind == record::Json::Kind::kObject;
  is_object ? WriteJson(*json, out) : out.Value(nullptr);
}

}  // namespace telemetry::web::api
