#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "server/web/api/common.h"
#include "server/web/api/config_code.h"
#include "server/web/api/config_text.h"
#include "server/web/api/endpoints.h"
#include "server/web/api/failure_group.h"
#include "server/web/api/repro_command.h"
#include "server/web/api/row_details.h"
#include "server/web/api/row_failures.h"
#include "server/web/api/run_scope.h"
#include "server/web/rows/config_table.h"
#include "server/web/rows/row_cursor.h"
#include "server/web/rows/status_table.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;
using json::Whole;
using storage::sql::AttemptKey;
using storage::sql::Statement;

constexpr int64_t kMostShownRows = 50;
// A failure of kWholeTextBytes whose characters are all escaped.
constexpr int64_t kMostFailureJson = 6 * int64_t{json::kWholeTextBytes};

// Texts of rows are shown whole until they have this many bytes together.
constexpr size_t kMostShownBytes = size_t{4} << 20;

// Writes the rows of a config.
class RowWriter {
 public:
  RowWriter(const Call& call, const std::string& config_id)
      : config_id_(config_id),
        statuses_(call.dataset),
        cursor_(call.dataset, rows::RowCursor::Failures::kSkip),
        details_(call.dataset),
        failures_(call.dataset),
        texts_(call.dataset),
        hashes_(call.dataset, {.text = "SELECT source_hash FROM source_hashes",
                               .key = storage::sql::kInRun,
                               .where = "attempt = ?1 AND seq = ?2"}) {}

  // Writes the rows of an attempt that have one of these configs.
  absl::Status Write(const AttemptKey& key, const std::string& attempt_id, const std::vector<int64_t>& configs,
                     JsonWriter& out) {
    RETURN_IF_ERROR(statuses_.Refresh());
    cursor_.Begin(key);
    while (read_ < kMostRows) {
      ASSIGN_OR_RETURN(const bool found, cursor_.Next());
      if (!found) break;
      ++read_;
      const rows::Row& row = cursor_.row();
      if (std::find(configs.begin(), configs.end(), row.config) == configs.end()) continue;
      if (config_ == 0) config_ = row.config;
      if (run_ == 0) run_ = key.run;
      if (++rows_ > kMostShownRows) continue;
      RETURN_IF_ERROR(WriteRow(key, attempt_id, row, out));
    }
    cursor_.End();
    return absl::OkStatus();
  }

  int64_t rows() const { return rows_; }
  // The config and the run of the first row.
  int64_t config() const { return config_; }
  int64_t run() const { return run_; }

 private:
  absl::Status WriteRow(const AttemptKey& key, const std::string& attempt_id, const rows::Row& row, JsonWriter& out) {
    ASSIGN_OR_RETURN(const RowDetails details, details_.Read(key, row.seq));
    ASSIGN_OR_RETURN(const ConfigTexts::Config config, texts_.ReadCut(row.config));
    out.BeginObject();
    out.Field("attempt_id", attempt_id);
    out.Field("seq", row.seq);
    out.Field("timestamp_s", row.timestamp_s);
    out.Field("generation", row.generation);
    out.Field("status", statuses_.Name(row.status));
    out.Field("perf_ms", row.perf_ms);
    out.Field("compile_time_s", row.compile_time_s);
    out.Field("config_id", config_id_);
    out.Field("config", config.text);
    const std::string_view stage = rows::StageName(row.stage);
    stage.empty() ? out.Field("stage", nullptr) : out.Field("stage", stage);
    WriteDetails(details, out);
    RETURN_IF_ERROR(WriteFailure(key, row.seq, out));
    ASSIGN_OR_RETURN(const bool has_hash, hashes_.Bind(storage::sql::InRun{key.run}, key.attempt, row.seq).Step());
    has_hash ? WriteHex(out, "source_hash", hashes_, 0) : out.Field("source_hash", nullptr);
    hashes_.Reset();
    out.EndObject();
    return absl::OkStatus();
  }

  absl::Status WriteFailure(const AttemptKey& key, int64_t seq, JsonWriter& out) {
    const bool is_whole = out.size() < kMostShownBytes;
    ASSIGN_OR_RETURN(const std::string failure,
                     failures_.Read(key, seq, is_whole ? kMostFailureJson : rows::kMostFailureLength));
    const std::string text = FailureText(failure);
    const auto write = [&](const char* name, const std::string& value) {
      if (value.empty()) return out.Field(name, nullptr);
      is_whole ? out.Field(name, Whole{value}) : out.Field(name, value);
    };
    write("failure", text);
    write("failure_json", failure);
    return absl::OkStatus();
  }

  static void WriteDetails(const RowDetails& details, JsonWriter& out) {
    if (details.samples_ms.has_value()) {
      out.BeginArray("samples_ms");
      for (const double sample : *details.samples_ms) out.Value(sample);
      out.EndArray();
    } else {
      out.Field("samples_ms", nullptr);
    }
    WriteQuantiles(out, "quantiles", details.samples_ms);
    out.Field("registers", details.registers);
    out.Field("spill_bytes", details.spill_bytes);
    out.Field("shared_bytes", details.shared_bytes);
    out.Field("occupancy", details.occupancy);
    out.Field("binary_bytes", details.binary_bytes);
    out.Field("sm_clock_mhz", details.sm_clock_mhz);
    out.Field("worst_absolute_error", details.worst_absolute_error);
    out.Field("worst_relative_error", details.worst_relative_error);
  }

  const std::string config_id_;
  rows::StatusTable statuses_;
  rows::RowCursor cursor_;
  RowDetailReader details_;
  RowFailures failures_;
  ConfigTexts texts_;
  Statement hashes_;
  int64_t read_ = 0;
  int64_t rows_ = 0;
  int64_t config_ = 0;
  int64_t run_ = 0;
};

absl::StatusOr<std::string> DialectOf(const Call& call, int64_t run) {
  Statement dialect(call.scratch,
                    "SELECT t.label FROM runs AS r JOIN texts AS t ON t.text = r.dialect WHERE r.run = ?1");
  ASSIGN_OR_RETURN(const bool found, dialect.Bind(run).Step());
  return found ? dialect.String(0) : "";
}

absl::Status WriteArguments(const Call& call, int64_t config, JsonWriter& out) {
  const std::vector<int64_t> keys = {config};
  ASSIGN_OR_RETURN(const rows::ConfigTable table, rows::ConfigTable::Read(call.dataset, keys));
  out.BeginArray("arguments");
  for (const int64_t argument : table.Find(config).arguments) {
    for (const auto& [name, text] : table.Argument(argument)) {
      out.BeginObject();
      out.Field("name", name);
      out.Field("text", text);
      out.EndObject();
    }
  }
  out.EndArray();
  return absl::OkStatus();
}

}  // namespace

absl::Status GetConfig(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({"sender"}));
  ASSIGN_OR_RETURN(const RunScope scope, FindRun(call));
  const std::string& id = call.path[1];
  ASSIGN_OR_RETURN(const std::vector<int64_t> configs, FindConfigs(call.dataset, id));
  if (configs.empty()) return absl::NotFoundError("the dataset has no config with this id");
  RowWriter rows(call, id);
  std::string rows_json;
  JsonWriter rows_out(&rows_json);
  rows_out.BeginArray();
  for (size_t i = 0; i < scope.attempts.size(); ++i) {
    RETURN_IF_ERROR(rows.Write(scope.attempts[i], scope.attempt_ids[i], configs, rows_out));
  }
  rows_out.EndArray();
  if (rows.rows() == 0) return absl::NotFoundError("the run has no row of this config");
  ASSIGN_OR_RETURN(const std::string dialect, DialectOf(call, rows.run()));
  out.BeginObject();
  RETURN_IF_ERROR(WriteConfigMembers(call, rows.run(), rows.config(), dialect, out));
  RETURN_IF_ERROR(WriteArguments(call, rows.config(), out));
  out.Key("rows");
  out.Raw(rows_json);
  out.Field("rows_left_out", std::max<int64_t>(rows.rows() - kMostShownRows, 0));
  Statement sample(call.dataset, "SELECT sample_id FROM run_configs WHERE run = ?1 AND config = ?2");
  ASSIGN_OR_RETURN(const bool found, sample.Bind(rows.run(), rows.config()).Step());
  found ? WriteHex(out, "sample_id", sample, 0) : out.Field("sample_id", nullptr);
  ConfigCode code(call.dataset, *record::ParseConfigId(id));
  out.BeginArray("code");
  for (size_t i = 0; i < scope.attempts.size(); ++i) {
    RETURN_IF_ERROR(code.Write(scope.attempts[i], scope.attempt_ids[i], out));
  }
  out.EndArray();
  out.Field("repro", ReproCommand(call, scope.run_id, id, dialect));
  out.EndObject();
  return absl::OkStatus();
}

}  // namespace telemetry::web::api
