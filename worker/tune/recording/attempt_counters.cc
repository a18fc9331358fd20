#include "worker/tune/recording/attempt_counters.h"

#include <cmath>
#include <string>
#include <utility>

#include "proto/record/ids.h"
#include "proto/record/numbers.h"

namespace telemetry::worker::tune::recording {
namespace {

using record::Json;

Json NumberJson(double value) { return std::isfinite(value) ? Json::Number(record::FloatRepr(value)) : Json::Null(); }

}  // namespace

Json CountersJson(const AttemptCounters& counters) {
  Json json = Json::Object();
  const auto add = [&json](const char* key, Json value) { json.members.emplace_back(key, std::move(value)); };
  add("configs_tested", Json::Integer(counters.configs_tested));
  add("compile_failures", Json::Integer(counters.compile_failures));
  add("worker_failures", Json::Integer(counters.worker_failures));
  add("accuracy_failures", Json::Integer(counters.accuracy_failures));
  add("timeouts", Json::Integer(counters.timeouts));
  add("unique_sources", Json::Integer(counters.unique_sources));
  add("deduplicated", Json::Integer(counters.deduplicated));
  add("filtered", Json::Integer(counters.filtered));
  add("generations", Json::Integer(counters.generations));
  add("seconds_total", NumberJson(counters.seconds_total));
  add("seconds_compiling", NumberJson(counters.seconds_compiling));
  add("seconds_measuring", NumberJson(counters.seconds_measuring));
  add("best_perf_ms", counters.best_perf_ms.has_value() ? NumberJson(*counters.best_perf_ms) : Json::Null());
  add("best_config_id", counters.best_config_id.has_value()
                            ? Json::String(record::FormatConfigId(*counters.best_config_id))
                            : Json::Null());
  return json;
}

}  // namespace telemetry::worker::tune::recording
