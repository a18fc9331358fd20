#include "server/export/snapshot.h"

#include <utility>

#include "proto/record/json.h"
#include "server/export/render/json_values.h"

namespace telemetry::exporter {
namespace {

using record::Json;
using render::CountJson;
using render::Put;
using render::TextOrNull;

std::string_view AttemptsName(v1::Filter::Attempts attempts) {
  switch (attempts) {
    case v1::Filter::ATTEMPTS_LATEST:
      return "latest";
    case v1::Filter::ATTEMPTS_BEST:
      return "best";
    default:
      return "all";
  }
}

Json FilterJson(const v1::Filter& filter) {
  Json json = Json::Object();
  Put(&json, "kernel", TextOrNull(filter.kernel_name()));
  Put(&json, "hardware", TextOrNull(filter.hardware()));
  Put(&json, "run", TextOrNull(filter.run_id()));
  Put(&json, "status", TextOrNull(filter.status()));
  Put(&json, "since", filter.since_unix_us() == 0 ? Json::Null() : render::TimeJson(filter.since_unix_us()));
  Put(&json, "attempts", Json::String(std::string(AttemptsName(filter.attempts()))));
  return json;
}

Json CountsJson(const render::DatasetCounts& counts) {
  Json by_status = Json::Object();
  for (const auto& [status, count] : counts.measurements_by_status) Put(&by_status, status, CountJson(count));
  Json json = Json::Object();
  Put(&json, "runs", CountJson(counts.runs));
  Put(&json, "attempts", CountJson(counts.attempts));
  Put(&json, "measurements", CountJson(counts.measurements));
  Put(&json, "measurements_by_status", std::move(by_status));
  Put(&json, "configs", CountJson(counts.configs));
  Put(&json, "records", CountJson(counts.records));
  Put(&json, "ir_graphs", CountJson(counts.ir_graphs));
  Put(&json, "source_hashes", CountJson(counts.source_hashes));
  if (counts.trace_lines > 0) Put(&json, "trace_lines", CountJson(counts.trace_lines));
  if (counts.details.has_value()) Put(&json, "details", CountJson(*counts.details));
  return json;
}

Json FileJson(const files::WrittenFile& file) {
  Json json = Json::Object();
  Put(&json, "name", Json::String(file.name));
  Put(&json, "size_bytes", CountJson(file.size_bytes));
  Put(&json, "sha256", Json::String(file.sha256_hex));
  return json;
}

}  // namespace

std::string FormatSnapshot(const Snapshot& snapshot) {
  Json files = Json::Array();
  for (const files::WrittenFile& file : snapshot.files) files.items.push_back(FileJson(file));
  Json json = Json::Object();
  Put(&json, "format_version", Json::Integer(kSnapshotFormatVersion));
  Put(&json, "layout", Json::String(std::string(render::LayoutName(snapshot.layout))));
  Put(&json, "compression", Json::String(std::string(files::CompressionName(snapshot.compression))));
  Put(&json, "filter", FilterJson(snapshot.filter));
  Put(&json, "counts", CountsJson(snapshot.counts));
  Put(&json, "files", std::move(files));
  return record::ToIndentedJson(json) + "\n";
}

}  // namespace telemetry::exporter
