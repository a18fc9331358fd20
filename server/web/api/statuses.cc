#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"
#include "server/web/api/endpoints.h"
#include "server/web/api/failure_group.h"
#include "server/web/api/run_scope.h"
#include "server/web/json/clean_text.h"
#include "server/web/rows/config_table.h"
#include "server/web/rows/row_cursor.h"
#include "server/web/rows/status_table.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;
using rows::ConfigTable;
using rows::Row;

constexpr size_t kMostGroups = 100;
constexpr size_t kMostTypical = 5;
constexpr double kLeastLift = 0.1;  // of a setting's share among the failed configs
constexpr size_t kMostKnownReasons = 10000;
constexpr size_t kMostKeptGroups = 1000;  // groups beyond this number are counted only
constexpr size_t kMostExampleBytes = 4096;

struct StatusCount {
  bool is_start = false;  // "started"
  int64_t rows = 0;
  absl::flat_hash_set<int64_t> configs;
};

struct Group {
  FailureReason reason;
  int64_t rows = 0;
  absl::flat_hash_set<int64_t> configs;
  std::string attempt_id;
  int64_t seq = 0;
  int64_t config = 0;
  std::optional<std::string> message;
};

// The rows of a run, counted by status and reason.
struct Counts {
  std::map<std::string, StatusCount> statuses;
  std::map<std::string, Group> groups;  // by id
  absl::flat_hash_set<int64_t> configs;
  int64_t unfinished = 0;
  int64_t rows = 0;
  bool is_cut = false;  // after kMostRows rows

  // Ids of reasons by the digests of status and failure, since parsing takes long and texts recur.
  absl::flat_hash_map<std::string, std::string> ids;
  absl::flat_hash_set<std::string> ids_left_out;  // of groups that are not kept
};

// Returns the group of a reason, a new one if there is room; else nullptr.
Group* FindGroup(const std::string& id, Counts* counts) {
  if (const auto found = counts->groups.find(id); found != counts->groups.end()) return &found->second;
  if (counts->groups.size() < kMostKeptGroups) return &counts->groups[id];
  counts->ids_left_out.insert(id);
  return nullptr;
}

void AddFailure(const Row& row, const std::string& status, const std::string& attempt_id, Counts* counts) {
  std::string digest = record::Sha256(record::Cat(status, std::string_view("\0", 1), row.failure));
  auto known = counts->ids.find(digest);
  if (known == counts->ids.end()) {
    if (counts->ids.size() >= kMostKnownReasons) counts->ids.clear();
    known = counts->ids.emplace(std::move(digest), ReasonOf(status, row.failure).Id()).first;
  }
  Group* const group = FindGroup(known->second, counts);
  if (group == nullptr) return;
  if (group->rows++ == 0) {
    group->reason = ReasonOf(status, row.failure);
    group->attempt_id = attempt_id;
    group->seq = row.seq;
    group->config = row.config;
    if (!row.failure.empty()) group->message = json::CleanText(FailureText(row.failure), kMostExampleBytes);
  }
  group->configs.insert(row.config);
}

StatusCount* FindStatus(const std::string& name, Counts* counts) {
  StatusCount& count = counts->statuses[name];
  count.is_start = name == "started";
  return &count;
}

absl::Status CountAttempt(const storage::sql::AttemptKey& key, const std::string& attempt_id,
                          const rows::StatusTable& statuses, rows::RowCursor* cursor, Counts* counts) {
  absl::flat_hash_map<int64_t, bool> ended;              // by config
  absl::flat_hash_map<int64_t, StatusCount*> by_status;  // by key
  cursor->Begin(key);
  while (true) {
    ASSIGN_OR_RETURN(const bool found, cursor->Next());
    if (!found) break;
    counts->is_cut = ++counts->rows > kMostRows;
    if (counts->is_cut) break;
    const Row& row = cursor->row();
    StatusCount*& count = by_status[row.status];
    if (count == nullptr) count = FindStatus(statuses.Name(row.status), counts);
    ++count->rows;
    count->configs.insert(row.config);
    const rows::StatusKind kind = statuses.Kind(row.status);
    ended[row.config] |= !count->is_start;
    if (kind != rows::StatusKind::kNoResult) counts->configs.insert(row.config);
    if (kind == rows::StatusKind::kFailed) AddFailure(row, statuses.Name(row.status), attempt_id, counts);
  }
  cursor->End();
  counts->unfinished += std::count_if(ended.begin(), ended.end(), [](const auto& config) { return !config.second; });
  return absl::OkStatus();
}

// The shares of settings among a set of configs.
using Shares = std::map<ConfigTable::Setting, int64_t>;

Shares CountSettings(const ConfigTable& table, const absl::flat_hash_set<int64_t>& configs) {
  absl::flat_hash_map<int64_t, int64_t> arguments;
  for (const int64_t config : configs) {
    for (const int64_t argument : table.Find(config).arguments) ++arguments[argument];
  }
  Shares shares;
  for (const auto& [argument, count] : arguments) {
    for (const ConfigTable::Setting& setting : table.Argument(argument)) shares[setting] += count;
  }
  return shares;
}

struct Typical {
  ConfigTable::Setting setting;
  double share = 0;
  double share_of_all = 0;
};

// Returns the settings that are more frequent among the group's configs than among all.
std::vector<Typical> FindTypical(const ConfigTable& table, const Group& group, const Shares& all, size_t all_configs) {
  std::vector<Typical> typical;
  for (const auto& [setting, count] : CountSettings(table, group.configs)) {
    const double share = static_cast<double>(count) / static_cast<double>(group.configs.size());
    const auto of_all = all.find(setting);
    const double share_of_all =
        of_all == all.end() ? 0 : static_cast<double>(of_all->second) / static_cast<double>(all_configs);
    if (share - share_of_all >= kLeastLift) typical.push_back({setting, share, share_of_all});
  }
  std::stable_sort(typical.begin(), typical.end(), [](const Typical& a, const Typical& b) {
    return a.share - a.share_of_all > b.share - b.share_of_all;
  });
  if (typical.size() > kMostTypical) typical.resize(kMostTypical);
  return typical;
}

void WriteOptional(JsonWriter& out, const char* key, const std::string& text) {
  text.empty() ? out.Field(key, nullptr) : out.Field(key, text);
}

void WriteGroup(const std::string& id, const Group& group, const ConfigTable& table, const Shares& all,
                size_t all_configs, JsonWriter& out) {
  out.BeginObject();
  out.Field("group", id);
  out.Field("status", group.reason.status);
  WriteOptional(out, "phase", group.reason.phase);
  WriteOptional(out, "error_class", group.reason.error_class);
  WriteOptional(out, "code", group.reason.code);
  WriteOptional(out, "message", group.reason.message);
  out.Field("rows", group.rows);
  out.Field("configs", group.configs.size());
  out.BeginObject("example");
  out.Field("attempt_id", group.attempt_id);
  out.Field("seq", group.seq);
  out.Field("config_id", table.Find(group.config).id);
  group.message.has_value() ? out.Field("message", json::Whole{*group.message}) : out.Field("message", nullptr);
  out.EndObject();
  out.BeginArray("knobs");
  for (const Typical& typical : FindTypical(table, group, all, all_configs)) {
    out.BeginObject();
    out.Field("name", typical.setting.first);
    out.Field("text", typical.setting.second);
    out.Field("share", typical.share);
    out.Field("share_of_all", typical.share_of_all);
    out.EndObject();
  }
  out.EndArray();
  out.EndObject();
}

absl::Status WriteGroups(const Call& call, const Counts& counts, JsonWriter& out) {
  std::vector<std::pair<std::string, const Group*>> groups;
  for (const auto& [id, group] : counts.groups) groups.emplace_back(id, &group);
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.second->configs.size() > b.second->configs.size(); });
  const size_t shown = std::min(kMostGroups, groups.size());
  const absl::flat_hash_set<int64_t>& all = counts.configs;
  const std::vector<int64_t> keys(all.begin(), all.end());
  ASSIGN_OR_RETURN(const ConfigTable table,
                   ConfigTable::Read(call.dataset, shown == 0 ? absl::Span<const int64_t>() : keys));
  const Shares shares = CountSettings(table, all);
  out.BeginArray("failures");
  for (size_t i = 0; i < shown; ++i) WriteGroup(groups[i].first, *groups[i].second, table, shares, all.size(), out);
  out.EndArray();
  out.Field("failures_left_out", groups.size() - shown + counts.ids_left_out.size());
  return absl::OkStatus();
}

}  // namespace

absl::Status GetStatuses(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({"sender", "format"}, {"attempt"}));
  ASSIGN_OR_RETURN(const RunScope scope, FindRun(call));
  rows::StatusTable statuses(call.dataset);
  RETURN_IF_ERROR(statuses.Refresh());
  rows::RowCursor cursor(call.dataset, rows::RowCursor::Failures::kRead);
  Counts counts;
  for (size_t i = 0; i < scope.attempts.size() && !counts.is_cut; ++i) {
    RETURN_IF_ERROR(CountAttempt(scope.attempts[i], scope.attempt_ids[i], statuses, &cursor, &counts));
  }
  std::vector<std::pair<std::string, const StatusCount*>> order;
  for (const auto& [name, count] : counts.statuses) order.emplace_back(name, &count);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second->rows > b.second->rows; });
  out.BeginObject();
  out.BeginArray("statuses");
  for (const auto& [name, count] : order) {
    out.BeginObject();
    out.Field("status", name);
    out.Field("rows", count->rows);
    out.Field("configs", count->configs.size());
    out.EndObject();
  }
  out.EndArray();
  RETURN_IF_ERROR(WriteGroups(call, counts, out));
  out.Field("unfinished", counts.unfinished);
  out.Field("cut", counts.is_cut);
  out.EndObject();
  return absl::OkStatus();
}

}  // namespace telemetry::web::api
