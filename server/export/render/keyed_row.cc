#include "server/export/render/keyed_row.h"

#include "absl/strings/str_join.h"
#include "proto/record/ids.h"
#include "proto/record/numbers.h"
#include "proto/record/sidecar/row.h"

namespace telemetry::exporter::render {
namespace {

// A column: its name in the header, and the function that appends its field.
struct Column {
  std::string_view name;
  void (*append)(const v1::Measurement& row, const KeyedRowParts& parts, std::string* out);
};

constexpr Column kColumns[] = {
    {"run_id", [](auto&, auto& parts, auto* out) { out->append(parts.run_id); }},
    {"attempt_id", [](auto&, auto& parts, auto* out) { out->append(parts.attempt_id); }},
    {"seq", [](auto& row, auto&, auto* out) { out->append(std::to_string(row.seq())); }},
    {"timestamp_s", [](auto& row, auto&, auto* out) { out->append(record::FloatRepr(row.timestamp_s())); }},
    {"generation", [](auto& row, auto&, auto* out) { out->append(std::to_string(row.generation())); }},
    {"status", [](auto& row, auto&, auto* out) { out->append(record::sidecar::CsvField(row.status())); }},
    {"perf_ms",
     [](auto& row, auto&, auto* out) {
       if (row.has_perf_ms()) out->append(record::FloatRepr(row.perf_ms()));
     }},
    {"compile_time_s",
     [](auto& row, auto&, auto* out) {
       if (row.has_compile_time_s()) out->append(record::FloatRepr(row.compile_time_s()));
     }},
    {"config_id", [](auto& row, auto&, auto* out) { out->append(record::FormatConfigId(row.config_id())); }},
    {"config", [](auto&, auto& parts, auto* out) { out->append(parts.config_field); }},
    {"source_hash", [](auto&, auto& parts, auto* out) { out->append(parts.source_hash); }},
};

}  // namespace

std::string KeyedHeader() {
  return absl::StrJoin(kColumns, ",", [](std::string* out, const Column& column) { out->append(column.name); });
}

void AppendKeyedRow(const v1::Measurement& row, const KeyedRowParts& parts, std::string* out) {
  for (const Column& column : kColumns) {
    column.append(row, parts, out);
    out->push_back(',');
  }
  out->pop_back();
  out->append("\r\n");
}

}  // namespace telemetry::exporter::render
