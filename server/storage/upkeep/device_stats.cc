#include "server/storage/upkeep/device_stats.h"

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "proto/base/status_macros.h"
#include "proto/record/json.h"
#include "proto/statistics/samples.h"

namespace telemetry::storage::upkeep {
namespace {

// Limits of a page, so that it stays below 25 MB: longer texts and further finals are left out. An attempt has about
// six finals with 1 KB of samples each.
constexpr int64_t kMostEnvironmentLength = 16384;
constexpr int64_t kMostSamplesLength = 8192;
constexpr int64_t kMostFinals = 3000;
constexpr size_t kMostSamples = 1000;

}  // namespace

void DeviceStats::AddClock(double mhz, int64_t results) {
  clocks_ += mhz * static_cast<double>(results);
  clock_results_ += results;
}

void DeviceStats::AddSpread(double spread) {
  spreads_ += spread;
  ++finals_;
}

DeviceCounter::DeviceCounter(sql::Database& database, DeviceStatsMap* places)
    : places_(*places),
      attempts_(database,
                "SELECT a.attempt, coalesce(r.hardware, ''), "
                "CASE WHEN length(a.environment_json) <= ?3 THEN a.environment_json END "
                "FROM attempts AS a JOIN runs AS r ON r.run = a.run WHERE a.attempt > ?1 AND a.attempt <= ?2"),
      results_(database, {.text = "SELECT a.attempt, count(*), "
                                  "sum(CASE WHEN d.throttled_samples > 0 THEN 1 ELSE 0 END), avg(d.sm_clock_mhz), "
                                  "count(d.sm_clock_mhz) FROM attempts AS a "
                                  "JOIN measurement_details AS d ON d.attempt = a.attempt",
                          .key = "d.run = a.run",
                          .where = "a.attempt > ?1 AND a.attempt <= ?2 GROUP BY 1"}),
      finals_(database, {.text = "SELECT a.attempt, d.samples_ms_json FROM attempts AS a "
                                 "JOIN measurement_details AS d ON d.attempt = a.attempt",
                         .key = "d.run = a.run",
                         .where = "a.attempt > ?1 AND a.attempt <= ?2 AND d.stage = 'final' "
                                  "AND length(d.samples_ms_json) <= ?3 LIMIT ?4"}) {}

DeviceStats& DeviceCounter::StatsOf(const std::string& hardware, const std::string& environment_json) {
  MeasuringPlace place = {.hardware = hardware, .host = ""};
  const absl::StatusOr<record::Json> environment = record::ParseJson(environment_json);
  const record::Json* const host = environment.ok() ? environment->Find("host") : nullptr;
  if (host != nullptr && host->kind == record::Json::Kind::kString) place.host = host->text;
  if (places_.size() >= kMostMeasuringPlaces && !places_.contains(place)) place = {};
  return places_[place];
}

absl::Status DeviceCounter::Add(int64_t last, int64_t end) {
  absl::flat_hash_map<int64_t, DeviceStats*> of_attempts;
  attempts_.Bind(last, end, kMostEnvironmentLength);
  while (true) {
    ASSIGN_OR_RETURN(const bool found, attempts_.Step());
    if (!found) break;
    DeviceStats& stats = StatsOf(attempts_.String(1), attempts_.IsNull(2) ? "" : attempts_.String(2));
    ++stats.attempts;
    of_attempts[attempts_.Int(0)] = &stats;
  }
  results_.Bind(last, end);
  while (true) {
    ASSIGN_OR_RETURN(const bool found, results_.Step());
    if (!found) break;
    const auto attempt = of_attempts.find(results_.Int(0));
    if (attempt == of_attempts.end()) continue;  // it arrived since
    attempt->second->results += results_.Int(1);
    attempt->second->throttled += results_.Int(2);
    if (!results_.IsNull(3)) attempt->second->AddClock(results_.Double(3), results_.Int(4));
  }
  finals_.Bind(last, end, kMostSamplesLength, kMostFinals);
  while (true) {
    ASSIGN_OR_RETURN(const bool found, finals_.Step());
    if (!found) return absl::OkStatus();
    const auto attempt = of_attempts.find(finals_.Int(0));
    const auto spread = statistics::RelativeSpread(statistics::ParseSamples(finals_.Text(1), kMostSamples));
    if (attempt != of_attempts.end() && spread.has_value()) attempt->second->AddSpread(*spread);
  }
}

}  // namespace telemetry::storage::upkeep
