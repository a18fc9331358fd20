#include "proto/record/sidecar/row.h"

#include <array>
#include <charconv>
#include <utility>

#include "absl/status/status.h"
#include "proto/record/ids.h"
#include "proto/record/numbers.h"
#include "proto/record/python_literal.h"
#include "proto/record/sidecar/csv_fields.h"
#include "proto/record/strings.h"
#include "proto/record/utf8.h"

namespace telemetry::record::sidecar {
namespace {

enum class Column {
  kRunId,
  kKernelId,
  kSampleId,
  kTimestamp,
  kConfigIndex,
  kConfigId,
  kGeneration,
  kStatus,
  kPerf,
  kCompileTime,
  kDecorator,
  kConfig,
  kSourceHash,
};

struct DialectTraits {
  std::string_view name;
  std::string_view header;
  size_t width;
  std::array<Column, 11> columns;  // only the first `width` are used
};

using enum Column;

constexpr DialectTraits kTraits[] = {
    {"v1.1",
     "timestamp_s,config_index,generation,status,perf_ms,compile_time_s,config",
     7,
     {kTimestamp, kConfigIndex, kGeneration, kStatus, kPerf, kCompileTime, kConfig}},
    {"pr2699",
     "kernel_id,sample_id,timestamp_s,config_index,generation,status,perf_ms,compile_time_s,config",
     9,
     {kKernelId, kSampleId, kTimestamp, kConfigIndex, kGeneration, kStatus, kPerf, kCompileTime, kConfig}},
    {"pr2750",
     "run_id,kernel_id,sample_id,timestamp_s,config_index,generation,status,perf_ms,compile_time_s,decorator,config",
     11,
     {kRunId, kKernelId, kSampleId, kTimestamp, kConfigIndex, kGeneration, kStatus, kPerf, kCompileTime, kDecorator,
      kConfig}},
    {"helion",
     "run_id,timestamp_s,config_id,generation,status,perf_ms,compile_time_s,config",
     8,
     {kRunId, kTimestamp, kConfigId, kGeneration, kStatus, kPerf, kCompileTime, kConfig}},
    {"helion-sources",
     "run_id,timestamp_s,config_id,generation,status,source_hash",
     6,
     {kRunId, kTimestamp, kConfigId, kGeneration, kStatus, kSourceHash}},
};

const DialectTraits& GetTraits(Dialect dialect) { return kTraits[static_cast<size_t>(dialect)]; }

// Returns a column's name, which only the header contains.
std::string_view ColumnName(Dialect dialect, size_t index) {
  std::string_view names = GetTraits(dialect).header;
  for (; index > 0; --index) names.remove_prefix(names.find(',') + 1);
  return names.substr(0, names.find(','));
}

// The fault of a field, or nullptr if it could be read.
using Fault = const char*;

Fault ReadId(const std::string& field, bool may_be_empty, std::string* id) {
  if (!IsHexId(field) && !(may_be_empty && field.empty())) return "not 64 lower-case hex digits";
  *id = field;
  return nullptr;
}

Fault ReadDecimal(const std::string& field, double* value) {
  const std::optional<double> parsed = ParseDecimal(field);
  if (!parsed.has_value()) return "not a finite number";
  *value = *parsed;
  return nullptr;
}

Fault ReadOptionalDecimal(const std::string& field, std::optional<double>* value) {
  return field.empty() ? nullptr : ReadDecimal(field, &value->emplace());
}

Fault ReadConfigIndex(const std::string& field, std::optional<uint64_t>* value) {
  *value = ParseUint64(field);
  return value->has_value() && **value > 0 ? nullptr : "not a count from 1";
}

Fault ReadConfigId(const std::string& field, std::optional<uint64_t>* value) {
  const absl::StatusOr<uint64_t> id = ParseConfigId(field);
  if (!id.ok()) return "not 16 lower-case hex digits, or zero";
  *value = *id;
  return nullptr;
}

Fault ReadGeneration(const std::string& field, int64_t* value) {
  const std::optional<int64_t> parsed = ParseInt64(field);
  if (!parsed.has_value()) return "not a 64-bit integer";
  *value = *parsed;
  return nullptr;
}

Fault ReadStatus(const std::string& field, std::string* status) {
  *status = field;
  return field.empty() ? "empty" : nullptr;
}

// Requires at least the beginning of a digest, so that a torn row of another dialect is not accepted as a row with a
// hash.
Fault ReadSourceHash(const std::string& field, std::string* hash) {
  constexpr size_t kFewestDigits = 8;
  const bool is_hex = field.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!is_hex || field.size() < kFewestDigits) return "not a hash in lower-case hex digits";
  *hash = field;
  return nullptr;
}

bool LooksLikeWholeCall(std::string_view text) {
  return text.ends_with(")") && text.find('(') != std::string_view::npos && text[0] != '(';
}

Fault ReadConfig(const std::string& field, Row* row) {
  row->config_text = field;
  const absl::StatusOr<Json> config = ParseConfig(field);
  if (!config.ok()) {
    return row->config_id.has_value() && LooksLikeWholeCall(field) ? nullptr : "not a call of Config with literals";
  }
  const uint64_t id = ConfigId(*config);
  if (row->config_id.value_or(id) != id) return "does not have the id in config_id";
  row->config_id = id;
  return nullptr;
}

Fault ReadColumn(Column column, const std::string& field, bool has_run_id, Row* row) {
  switch (column) {
    case kRunId:
      return ReadId(field, /*may_be_empty=*/false, &row->run_id);
    case kKernelId:
      return ReadId(field, /*may_be_empty=*/has_run_id, &row->kernel_id);
    case kSampleId:
      return ReadId(field, /*may_be_empty=*/true, &row->sample_id);
    case kTimestamp:
      return ReadDecimal(field, &row->timestamp_s);
    case kConfigIndex:
      return ReadConfigIndex(field, &row->config_index);
    case kConfigId:
      return ReadConfigId(field, &row->config_id);
    case kGeneration:
      return ReadGeneration(field, &row->generation);
    case kStatus:
      return ReadStatus(field, &row->status);
    case kPerf:
      return ReadOptionalDecimal(field, &row->perf_ms);
    case kCompileTime:
      return ReadOptionalDecimal(field, &row->compile_time_s);
    case kDecorator:
      row->decorator = field;
      return nullptr;
    case kConfig:
      return ReadConfig(field, row);
    case kSourceHash:
      return ReadSourceHash(field, &row->source_hash);
  }
  return "no column";
}

Fault CheckText(const std::string& field) {
  if (field.find('\0') != std::string::npos) return "holds a NUL";
  return FindInvalidUtf8(field) == std::string_view::npos ? nullptr : "not UTF-8";
}

template <typename Integer>
void AppendInteger(Integer value, std::string* out) {
  char buffer[24];
  const char* end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out->append(buffer, static_cast<size_t>(end - buffer));
}

void AppendConfigId(uint64_t id, std::string* out) {
  static constexpr char kDigits[] = "0123456789abcdef";
  char buffer[16];
  for (size_t i = 0; i < sizeof buffer; ++i) buffer[i] = kDigits[id >> (60 - 4 * i) & 0xF];
  out->append(buffer, sizeof buffer);
}

// The overloads differ in whether the texts are already quoted.
void AppendDecorator(const Row& row, std::string* out) { AppendCsvField(row.decorator, out); }
void AppendDecorator(const RowView& row, std::string* out) { out->append(row.decorator_field); }
void AppendConfig(const Row& row, std::string* out) { AppendCsvField(row.config_text, out); }
void AppendConfig(const RowView& row, std::string* out) { out->append(row.config_field); }

template <typename Row>
void AppendColumn(Column column, const Row& row, std::string* out) {
  switch (column) {
    case kRunId:
      return AppendCsvField(row.run_id, out);
    case kKernelId:
      return AppendCsvField(row.kernel_id, out);
    case kSampleId:
      return AppendCsvField(row.sample_id, out);
    case kTimestamp:
      return AppendFixed(row.timestamp_s, 2, out);
    case kConfigIndex:
      if (row.config_index.has_value()) AppendInteger(*row.config_index, out);
      return;
    case kConfigId:
      if (row.config_id.has_value()) AppendConfigId(*row.config_id, out);
      return;
    case kGeneration:
      return AppendInteger(row.generation, out);
    case kStatus:
      return AppendCsvField(row.status, out);
    case kPerf:
      if (row.perf_ms.has_value()) AppendFixed(*row.perf_ms, 6, out);
      return;
    case kCompileTime:
      if (row.compile_time_s.has_value()) AppendFixed(*row.compile_time_s, 2, out);
      return;
    case kDecorator:
      return AppendDecorator(row, out);
    case kConfig:
      return AppendConfig(row, out);
    case kSourceHash:
      return AppendCsvField(row.source_hash, out);
  }
}

template <typename Row>
void AppendColumns(Dialect dialect, const Row& row, std::string* out) {
  const DialectTraits& traits = GetTraits(dialect);
  for (size_t i = 0; i < traits.width; ++i) {
    if (i > 0) out->push_back(',');
    AppendColumn(traits.columns[i], row, out);
  }
  out->append("\r\n");
}

}  // namespace

std::string_view DialectName(Dialect dialect) { return GetTraits(dialect).name; }
std::string_view DialectHeader(Dialect dialect) { return GetTraits(dialect).header; }
size_t DialectWidth(Dialect dialect) { return GetTraits(dialect).width; }

absl::StatusOr<Row> ParseRow(Dialect dialect, const std::vector<std::string>& fields) {
  const DialectTraits& traits = GetTraits(dialect);
  if (fields.size() != traits.width) {
    return absl::InvalidArgumentError(Cat(fields.size(), " fields; a ", traits.name, " row has ", traits.width));
  }
  const bool has_run_id = traits.columns[0] == kRunId;
  Row row;
  for (size_t i = 0; i < fields.size(); ++i) {
    Fault fault = CheckText(fields[i]);
    if (fault == nullptr) fault = ReadColumn(traits.columns[i], fields[i], has_run_id, &row);
    if (fault != nullptr) return absl::InvalidArgumentError(Cat(ColumnName(dialect, i), ": ", fault));
  }
  return row;
}

void AppendRow(Dialect dialect, const Row& row, std::string* out) { AppendColumns(dialect, row, out); }
void AppendRow(Dialect dialect, const RowView& row, std::string* out) { AppendColumns(dialect, row, out); }

std::string CsvField(std::string_view text) {
  std::string out;
  AppendCsvField(text, &out);
  return out;
}

}  // namespace telemetry::record::sidecar
