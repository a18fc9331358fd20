#include "tests/server/export/sample_dataset.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <vector>

#include "proto/record/ids.h"
#include "proto/record/json.h"
#include "proto/record/python_literal.h"
#include "proto/record/sidecar/csv_parser.h"
#include "proto/record/sidecar/ir_record.h"
#include "proto/record/sidecar/meta_record.h"
#include "tests/paths.h"

namespace telemetry::exporter {
namespace {

std::vector<record::sidecar::Row> ReadRows(const std::string& csv) {
  record::sidecar::CsvParser reader;
  std::vector<record::sidecar::CsvParser::Item> items;
  reader.Feed(csv, &items);
  reader.Finish(&items);
  std::vector<record::sidecar::Row> rows;
  for (const record::sidecar::CsvParser::Item& item : items) {
    EXPECT_NE(item.kind, record::sidecar::CsvParser::Kind::kBad) << "line " << item.line << ": " << item.error;
    if (item.kind == record::sidecar::CsvParser::Kind::kRow) rows.push_back(item.row);
  }
  return rows;
}

record::sidecar::MetaRecord ReadRecord(const std::string& json, const v1::Run& fallback) {
  record::sidecar::MetaRecord meta;
  meta.run = fallback;
  if (json.empty()) return meta;
  absl::StatusOr<record::Json> value = record::ParseJson(json.substr(0, json.find_last_not_of('\n') + 1));
  EXPECT_TRUE(value.ok()) << value.status();
  absl::StatusOr<record::sidecar::MetaRecord> parsed = record::sidecar::ParseMetaRecord(*value);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return *parsed;
}

void AddListedConfigs(const record::sidecar::MetaRecord& meta, MemoryDataset* dataset) {
  for (const record::sidecar::RecordConfig& config : meta.configs) {
    record::Json keys = record::Json::Array();
    for (const auto& [key, value] : config.config.members) keys.items.push_back(record::Json::String(key));
    v1::RunConfig run_config;
    run_config.set_config_id(config.config_id);
    run_config.set_record_keys_json(record::ToJson(keys));
    dataset->Config(config.config_id, record::FormatConfig(config.config)).RunConfig(run_config);
  }
}

// Adds the properties of the run that only the rows contain: sample ids and unusual decorators.
void AddRunConfigs(const std::vector<record::sidecar::Row>& rows, MemoryDataset* dataset) {
  for (const record::sidecar::Row& row : rows) {
    if (row.sample_id.empty()) continue;
    v1::RunConfig run_config;
    run_config.set_config_id(*row.config_id);
    run_config.set_sample_id(record::HexDecode(row.sample_id).value());
    if (!row.decorator.empty()) run_config.set_decorator(row.decorator);
    dataset->RunConfig(run_config);
  }
}

}  // namespace

void AddSample(const std::string& name, const v1::Run& run, MemoryDataset* dataset) {
  const std::vector<record::sidecar::Row> rows = ReadRows(ReadSample(name + ".csv"));
  ASSERT_FALSE(rows.empty()) << name;
  record::sidecar::MetaRecord meta =
      ReadRecord(ReadSample(name + ".meta.jsonl") + ReadSample(name + ".meta.json"), run);
  if (meta.run.run_id().empty()) meta.run.set_run_id(rows.front().run_id);
  if (meta.run.run_id().empty()) meta.run.set_run_id(Id64('a'));
  dataset->Run(meta.run);
  if (meta.ir_graph.has_value()) dataset->Graph(*meta.ir_graph);
  if (std::string ir = ReadSample(name + ".ir.jsonl"); !ir.empty()) {
    ir.pop_back();
    dataset->Graph(record::sidecar::ParseIrRecord(record::ParseJson(ir).value()).value());
  }
  AddListedConfigs(meta, dataset);
  AddRunConfigs(rows, dataset);
  dataset->Attempt('A');
  for (const record::sidecar::Row& row : rows) {
    dataset->Add({.config_text = row.config_text,
                  .status = row.status,
                  .timestamp_s = row.timestamp_s,
                  .generation = row.generation,
                  .perf_ms = row.perf_ms,
                  .compile_time_s = row.compile_time_s,
                  .source_hash = row.source_hash});
  }
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string ReadSample(const std::string& name) { return ReadFile(TestdataDir() + "/" + name); }

}  // namespace telemetry::exporter
