#include "server/web/api/config_code.h"

#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/json.h"
#include "server/web/api/call.h"

namespace telemetry::web::api {
namespace {

using record::Json;

constexpr int64_t kLastEvents = 100;
// PTX of a large kernel has a few hundred KB; an event has several such texts.
constexpr int64_t kMostEventBytes = int64_t{4} << 20;
// No event is written after this many bytes.
constexpr size_t kMostCodeBytes = size_t{4} << 20;

}  // namespace

// The casts tell PostgreSQL the types of the parameters.
ConfigCode::ConfigCode(storage::sql::Database& dataset, uint64_t config_id)
    : events_(dataset,
              {.text = "SELECT seq, CASE WHEN name = 'code' AND length(text) <= CAST(?2 AS INTEGER) THEN text END "
                       "FROM attempt_events",
               .key = storage::sql::kInRun,
               .where = "attempt = ?1 ORDER BY seq DESC LIMIT CAST(?3 AS INTEGER)"}),
      config_id_(config_id) {}

absl::Status ConfigCode::Write(const storage::sql::AttemptKey& key, const std::string& attempt_id,
                               json::JsonWriter& out) {
  events_.Bind(storage::sql::InRun{key.run}, key.attempt, kMostEventBytes, kLastEvents);
  return ForEachRow(events_, [&] {
    if (events_.IsNull(1) || bytes_ > kMostCodeBytes) return absl::OkStatus();
    const auto event = record::ParseJson(events_.Text(1));
    const Json* values = event.ok() ? event->Find("values") : nullptr;
    const Json* config = values != nullptr ? values->Find("config") : nullptr;
    if (config == nullptr || config->kind != Json::Kind::kObject || record::ConfigId(*config) != config_id_) {
      return absl::OkStatus();
    }
    for (const auto& [name, value] : values->members) {
      if (value.kind != Json::Kind::kString) continue;
      bytes_ += value.text.size();
      out.BeginObject();
      out.Field("attempt_id", attempt_id);
      out.Field("seq", events_.Int(0));
      out.Field("language", name);
      out.Field("text", json::Whole{value.text});
      out.EndObject();
    }
    return absl::OkStatus();
  });
}

}  // namespace telemetry::web::api
