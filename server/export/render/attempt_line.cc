#include "server/export/render/attempt_line.h"

#include "proto/record/ids.h"
#include "proto/record/json.h"
#include "server/export/render/json_values.h"

namespace telemetry::exporter::render {
namespace {

using record::Json;

Json StateJson(v1::Attempt::State state) {
  switch (state) {
    case v1::Attempt::STATE_OPEN:
      return Json::String("open");
    case v1::Attempt::STATE_COMPLETE:
      return Json::String("complete");
    case v1::Attempt::STATE_ABANDONED:
      return Json::String("abandoned");
    default:
      return Json::Null();
  }
}

}  // namespace

std::string FormatAttempt(const v1::AttemptSummary& summary, const AttemptRows& exported) {
  const v1::Attempt& attempt = summary.attempt();
  Json json = Json::Object();
  Put(&json, "run_id", Json::String(attempt.run_id()));
  Put(&json, "attempt_id", Json::String(record::HexEncode(attempt.attempt_id())));
  Put(&json, "origin", Json::String(attempt.origin()));
  Put(&json, "dialect", Json::String(attempt.dialect()));
  Put(&json, "state", StateJson(attempt.state()));
  Put(&json, "provisional", Json::Bool(attempt.provisional()));
  Put(&json, "started", attempt.has_started_unix_us() ? TimeJson(attempt.started_unix_us()) : Json::Null());
  Put(&json, "search_algorithm",
      attempt.has_search_algorithm() ? Json::String(attempt.search_algorithm()) : Json::Null());
  Put(&json, "seed", attempt.has_seed() ? Json::Integer(attempt.seed()) : Json::Null());
  Put(&json, "environment", attempt.has_environment_json() ? EmbeddedJson(attempt.environment_json()) : Json::Null());
  Put(&json, "counters", attempt.has_counters_json() ? EmbeddedJson(attempt.counters_json()) : Json::Null());
  Put(&json, "measurements", CountJson(summary.measurements()));
  Put(&json, "best_perf_ms", summary.has_best_perf_ms() ? MillisecondsJson(summary.best_perf_ms()) : Json::Null());
  Put(&json, "exported_rows", CountJson(exported.rows));
  Put(&json, "exported_ok_rows", CountJson(exported.ok_rows));
  return record::ToJson(json);
}

}  // namespace telemetry::exporter::render
