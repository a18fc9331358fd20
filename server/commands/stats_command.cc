#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "proto/base/status_macros.h"
#include "proto/log/line.h"
#include "proto/record/json.h"
#include "proto/record/numbers.h"
#include "server/commands/commands.h"
#include "server/storage/any/any_upkeep.h"
#include "server/storage/upkeep/stats.h"

namespace telemetry::commands {
namespace {

using record::Json;
using storage::upkeep::DatasetStats;
using storage::upkeep::DeviceStats;
using storage::upkeep::MeasuringPlace;
using storage::upkeep::ProducerStats;

constexpr size_t kDaysShown = 14;
constexpr size_t kProducersShown = 20;
constexpr absl::Duration kDay = absl::Hours(24);

std::string TimeText(int64_t unix_us) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixMicros(unix_us), absl::UTCTimeZone());
}

std::string DayText(int64_t day) {
  return absl::FormatTime("%Y-%m-%d", absl::UnixEpoch() + day * kDay, absl::UTCTimeZone());
}

int64_t Sum(const std::map<std::string, int64_t>& counts) {
  int64_t sum = 0;
  for (const auto& [name, count] : counts) sum += count;
  return sum;
}

void AppendCounts(const char* what, const std::map<std::string, int64_t>& counts, std::string* text) {
  absl::StrAppendFormat(text, "%-14s %12d\n", what, Sum(counts));
  for (const auto& [name, count] : counts) absl::StrAppendFormat(text, "  %-12s %12d\n", log::OneLine(name), count);
}

void AppendProducers(const DatasetStats& stats, std::string* text) {
  absl::StrAppendFormat(text, "%-14s %12d\n", "producers", stats.producers.size());
  if (stats.producers.empty()) return;
  absl::StrAppendFormat(text, "  %-32s  %12s  %-20s  %-16s  %s\n", "ID", "COMMITTED", "LAST OPENED", "OWNER", "CLIENT");
  for (size_t i = 0; i < std::min(stats.producers.size(), kProducersShown); ++i) {
    const ProducerStats& producer = stats.producers[i];
    absl::StrAppendFormat(text, "  %-32s  %12d  %-20s  %-16s  %s\n", producer.producer_id, producer.committed_seq,
                          TimeText(producer.last_opened_unix_us), log::OneLine(producer.owner),
                          log::OneLine(producer.client));
  }
  if (stats.producers.size() > kProducersShown) {
    absl::StrAppend(text, "  and ", stats.producers.size() - kProducersShown,
                    " that were opened earlier; --json lists all\n");
  }
}

void AppendDevices(const DatasetStats& stats, std::string* text) {
  if (stats.devices.empty()) return;
  absl::StrAppendFormat(text, "%-40s %12s %12s %10s %10s %7s\n", "device and machine", "attempts", "results",
                        "throttled", "clock MHz", "spread");
  for (const auto& [place, device] : stats.devices) {
    const std::string name =
        absl::StrCat(place.hardware.empty() ? "unknown" : place.hardware, place.host.empty() ? "" : " on ", place.host);
    const double throttled =
        device.results == 0 ? 0 : 100.0 * static_cast<double>(device.throttled) / static_cast<double>(device.results);
    absl::StrAppendFormat(text, "  %-38s %12d %12d %9.1f%%", log::OneLine(name), device.attempts, device.results,
                          throttled);
    absl::StrAppendFormat(text, " %10s %7s\n", device.ClockMhz() ? absl::StrFormat("%.0f", *device.ClockMhz()) : "-",
                          device.Spread() ? absl::StrFormat("%.1f%%", 100 * *device.Spread()) : "-");
  }
}

void AppendDays(const DatasetStats& stats, std::string* text) {
  if (stats.rows_by_day.empty()) return;
  absl::StrAppend(text, "measurements by arrival day of their attempts\n");
  size_t shown = 0;
  for (const auto& [day, rows] : stats.rows_by_day) {
    if (shown++ == kDaysShown) break;
    absl::StrAppendFormat(text, "  %-12s %12d\n", DayText(day), rows);
  }
}

std::string ToTable(const DatasetStats& stats) {
  std::string text;
  absl::StrAppendFormat(&text, "%-14s %12d\n%-14s %12d\n", "runs", stats.runs, "configs", stats.configs);
  AppendCounts("attempts", stats.attempts, &text);
  AppendCounts("measurements", stats.measurements, &text);
  AppendCounts("rejects", stats.rejects, &text);
  AppendCounts("cache bytes", stats.cache_bytes, &text);
  AppendCounts("model bytes", stats.model_bytes, &text);
  AppendProducers(stats, &text);
  if (stats.oldest_unix_us) {
    absl::StrAppend(&text, "attempts arrived from ", TimeText(*stats.oldest_unix_us), " to ",
                    TimeText(*stats.newest_unix_us), "\n");
  }
  AppendDevices(stats, &text);
  AppendDays(stats, &text);
  absl::StrAppendFormat(&text, "%-14s %12d bytes, %d of them free\n%-14s %12d bytes\n", "database",
                        stats.database_bytes, stats.free_bytes, "log (WAL)", stats.wal_bytes);
  return text;
}

Json ToJson(const std::map<std::string, int64_t>& counts) {
  Json json = Json::Object();
  for (const auto& [name, count] : counts) json.members.emplace_back(name, Json::Integer(count));
  return json;
}

Json ToJson(const ProducerStats& producer) {
  Json json = Json::Object();
  json.members = {{"producer_id", Json::String(producer.producer_id)},
                  {"client", Json::String(producer.client)},
                  {"owner", producer.owner.empty() ? Json::Null() : Json::String(producer.owner)},
                  {"committed_seq", Json::Integer(producer.committed_seq)},
                  {"last_opened", Json::String(TimeText(producer.last_opened_unix_us))}};
  return json;
}

Json ToJson(const MeasuringPlace& place, const DeviceStats& device) {
  const auto number = [](const std::optional<double>& value) {
    return value ? Json::Number(record::FloatRepr(*value)) : Json::Null();
  };
  Json json = Json::Object();
  json.members = {{"hardware", Json::String(place.hardware)},
                  {"host", Json::String(place.host)},
                  {"attempts", Json::Integer(device.attempts)},
                  {"results", Json::Integer(device.results)},
                  {"throttled_results", Json::Integer(device.throttled)},
                  {"mean_clock_mhz", number(device.ClockMhz())},
                  {"mean_spread", number(device.Spread())}};
  return json;
}

Json TimeJson(const std::optional<int64_t>& unix_us) {
  return unix_us ? Json::String(TimeText(*unix_us)) : Json::Null();
}

Json ToJson(const DatasetStats& stats) {
  Json producers = Json::Array();
  for (const ProducerStats& producer : stats.producers) producers.items.push_back(ToJson(producer));
  Json devices = Json::Array();
  for (const auto& [place, device] : stats.devices) devices.items.push_back(ToJson(place, device));
  Json days = Json::Object();
  for (const auto& [day, rows] : stats.rows_by_day) days.members.emplace_back(DayText(day), Json::Integer(rows));
  Json json = Json::Object();
  json.members = {{"runs", Json::Integer(stats.runs)},
                  {"configs", Json::Integer(stats.configs)},
                  {"attempts", ToJson(stats.attempts)},
                  {"measurements", ToJson(stats.measurements)},
                  {"rejects", ToJson(stats.rejects)},
                  {"cache_bytes", ToJson(stats.cache_bytes)},
                  {"model_bytes", ToJson(stats.model_bytes)},
                  {"producers", producers},
                  {"oldest_attempt", TimeJson(stats.oldest_unix_us)},
                  {"newest_attempt", TimeJson(stats.newest_unix_us)},
                  {"measurements_by_day", days},
                  {"devices", devices},
                  {"database_bytes", Json::Integer(stats.database_bytes)},
                  {"free_bytes", Json::Integer(stats.free_bytes)},
                  {"wal_bytes", Json::Integer(stats.wal_bytes)}};
  return json;
}

class StatsCommand final : public cli::Command {
 public:
  StatsCommand()
      : Command({.name = "stats",
                 .summary = "Print statistics of the dataset; works while a collector serves it",
                 .examples = R"(  telemetry-collector stats --db telemetry.db --json
  telemetry-collector stats --db postgresql://telemetry@db.example/telemetry
)"}) {}

  void AddFlags(cli::Flags& flags) override {
    flags.File("db", db_, "The dataset's SQLite file, or postgresql://USER@HOST/DATABASE");
    flags.Switch("json", json_, "Print one JSON object");
  }

  absl::StatusOr<int> Run() override {
    ASSIGN_OR_RETURN(const DatasetStats stats, storage::any::ReadStats(db_));
    std::fputs((json_ ? record::ToJson(ToJson(stats)) + "\n" : ToTable(stats)).c_str(), stdout);
    return cli::kExitDone;
  }

 private:
  std::string db_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<cli::Command> NewStats() { return cli::New<StatsCommand>(); }

}  // namespace telemetry::commands
