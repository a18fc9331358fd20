#include "server/export/render/keyed_row.h"

#include "proto/record/ids.h"
#include "proto/record/numbers.h"
#include "proto/record/sidecar/row.h"

namespace telemetry::exporter::render {
namespace {

std::string NumberField(bool has, double value) { return has ? record::FloatRepr(value) : ""; }

}  // namespace

std::string_view KeyedHeader() {
  return "run_id,attempt_id,seq,timestamp_s,generation,status,perf_ms,compile_time_s,config_id,config,source_hash";
}

void AppendKeyedRow(const v1::Measurement& row, const KeyedRowParts& parts, std::string* out) {
  const auto add = [out](std::string_view field) {
    out->append(field);
    out->push_back(',');
  };
  add(parts.run_id);
  add(parts.attempt_id);
  add(std::to_string(row.seq()));
  add(record::FloatRepr(row.timestamp_s()));
  add(std::to_string(row.generation()));
  add(record::sidecar::CsvField(row.status()));
  add(NumberField(row.has_perf_ms(), row.perf_ms()));
  add(NumberField(row.has_compile_time_s(), row.compile_time_s()));
  add(record::FormatConfigId(row.config_id()));
  add(parts.config_field);
  out->append(parts.source_hash);
  out->append("\r\n");
}

}  // namespace telemetry::exporter::render
