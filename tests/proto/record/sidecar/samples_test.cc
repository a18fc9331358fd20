// Tests that real files of Helion survive a round trip through every codec byte for byte.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "proto/record/ids.h"
#include "proto/record/json.h"
#include "proto/record/python_literal.h"
#include "proto/record/sidecar/csv_parser.h"
#include "proto/record/sidecar/ir_record.h"
#include "proto/record/sidecar/meta_record.h"
#include "tests/proto/record/sidecar/testdata.h"

namespace telemetry::record::sidecar {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::vector<CsvParser::Item> ReadCsv(std::string_view bytes) {
  CsvParser csv;
  std::vector<CsvParser::Item> items;
  csv.Feed(bytes, &items);
  csv.Finish(&items);
  return items;
}

std::string WriteItem(const CsvParser::Item& item) {
  std::string out;
  switch (item.kind) {
    case CsvParser::Kind::kHeader:
      out = std::string(DialectHeader(item.dialect)) + "\r\n";
      break;
    case CsvParser::Kind::kRow:
      AppendRow(item.dialect, item.row, &out);
      break;
    case CsvParser::Kind::kBad:
      out = "bad: " + item.error;
      break;
  }
  return out;
}

std::vector<Row> SampleRows(Dialect dialect) {
  std::vector<Row> rows;
  for (const std::string& path : SampleFiles(".csv")) {
    for (CsvParser::Item& item : ReadCsv(ReadFile(path))) {
      if (item.kind == CsvParser::Kind::kRow && item.dialect == dialect) rows.push_back(std::move(item.row));
    }
  }
  return rows;
}

std::vector<MetaRecord> SampleRecords(std::string_view suffix) {
  std::vector<MetaRecord> records;
  for (const std::string& path : SampleFiles(suffix)) {
    for (const std::string& line : SplitLines(ReadFile(path)))
      records.push_back(ParseMetaRecord(*ParseJson(line)).value());
  }
  return records;
}

TEST(Samples, AreAllThere) {
  EXPECT_THAT(SampleFiles(".csv"), SizeIs(9));
  EXPECT_THAT(SampleFiles(".meta.jsonl"), SizeIs(6));
  EXPECT_THAT(SampleFiles(".meta.json"), SizeIs(1));
  EXPECT_THAT(SampleFiles(".ir.jsonl"), SizeIs(3));
  EXPECT_THAT(SampleFiles(".trace.jsonl"), SizeIs(1));
}

TEST(Samples, EveryCsvComesBackByteForByte) {
  for (const std::string& path : SampleFiles(".csv")) {
    SCOPED_TRACE(path);
    const std::string original = ReadFile(path);
    std::string written;
    for (const CsvParser::Item& item : ReadCsv(original)) written += WriteItem(item);
    EXPECT_EQ(written, original);
  }
}

TEST(Samples, RowsFromPreparedTextsAreTheSame) {
  for (const std::string& path : SampleFiles(".csv")) {
    for (const CsvParser::Item& item : ReadCsv(ReadFile(path))) {
      if (item.kind != CsvParser::Kind::kRow) continue;
      const Row& row = item.row;
      const std::string decorator = CsvField(row.decorator);
      const std::string config = CsvField(row.config_text);
      const RowView view = {.run_id = row.run_id,
                            .kernel_id = row.kernel_id,
                            .sample_id = row.sample_id,
                            .timestamp_s = row.timestamp_s,
                            .config_index = row.config_index,
                            .config_id = row.config_id,
                            .generation = row.generation,
                            .status = row.status,
                            .perf_ms = row.perf_ms,
                            .compile_time_s = row.compile_time_s,
                            .decorator_field = decorator,
                            .config_field = config,
                            .source_hash = row.source_hash};
      std::string written;
      AppendRow(item.dialect, view, &written);
      ASSERT_EQ(written, WriteItem(item));
    }
  }
}

TEST(Samples, EveryJsonLineComesBackByteForByte) {
  for (const std::string& path : SampleFiles(".jsonl")) {
    SCOPED_TRACE(path);
    for (const std::string& line : SplitLines(ReadFile(path))) {
      const absl::StatusOr<Json> json = ParseJson(line);
      ASSERT_TRUE(json.ok()) << json.status();
      EXPECT_EQ(ToJson(*json), line);
    }
  }
}

TEST(Samples, EveryHelionRecordComesBackByteForByte) {
  for (const std::string& path : SampleFiles(".meta.jsonl")) {
    if (path.find("helion-main") == std::string::npos) continue;
    SCOPED_TRACE(path);
    for (const std::string& line : SplitLines(ReadFile(path))) {
      const absl::StatusOr<MetaRecord> meta = ParseMetaRecord(*ParseJson(line));
      ASSERT_TRUE(meta.ok()) << meta.status();
      ASSERT_TRUE(meta->ir_graph.has_value());
      ASSERT_THAT(meta->configs, Not(IsEmpty()));
      EXPECT_EQ(FormatHelionMeta(meta->run, &*meta->ir_graph, meta->configs), line);
    }
  }
}

TEST(Samples, EveryPr2750RecordComesBackByteForByte) {
  for (const std::string& path : SampleFiles(".meta.jsonl")) {
    if (path.find("helion-pr2750") == std::string::npos) continue;
    SCOPED_TRACE(path);
    for (const std::string& line : SplitLines(ReadFile(path))) {
      const absl::StatusOr<MetaRecord> meta = ParseMetaRecord(*ParseJson(line));
      ASSERT_TRUE(meta.ok()) << meta.status();
      EXPECT_EQ(FormatPr2750Meta(meta->run), line);
    }
  }
}

TEST(Samples, ThePr2699RecordComesBackByteForByte) {
  for (const std::string& path : SampleFiles(".meta.json")) {
    SCOPED_TRACE(path);
    const std::string original = ReadFile(path);
    const absl::StatusOr<MetaRecord> meta = ParseMetaRecord(*ParseJson(original));
    ASSERT_TRUE(meta.ok()) << meta.status();
    EXPECT_EQ(FormatPr2699Meta(meta->run), original);
  }
}

TEST(Samples, EveryIrRecordComesBackByteForByte) {
  std::map<std::string, v1::Run> runs;
  for (const MetaRecord& meta : SampleRecords(".meta.jsonl")) runs[meta.run.run_id()] = meta.run;
  for (const std::string& path : SampleFiles(".ir.jsonl")) {
    SCOPED_TRACE(path);
    for (const std::string& line : SplitLines(ReadFile(path))) {
      const absl::StatusOr<v1::IrGraph> graph = ParseIrRecord(*ParseJson(line));
      ASSERT_TRUE(graph.ok()) << graph.status();
      ASSERT_EQ(runs.count(graph->run_id()), 1u);
      EXPECT_EQ(FormatIrRecord(*graph, runs[graph->run_id()]), line);
    }
  }
}

TEST(Samples, ConfigIdsAreThoseThatHelionComputed) {
  const std::vector<Row> rows = SampleRows(Dialect::kHelion);
  ASSERT_THAT(rows, SizeIs(248));
  for (const Row& row : rows) EXPECT_EQ(ConfigId(*ParseConfig(row.config_text)), row.config_id);
}

TEST(Samples, ConfigTextsComeBackFromTheirValues) {
  for (const Dialect dialect : {Dialect::kV11, Dialect::kPr2699, Dialect::kPr2750, Dialect::kHelion}) {
    for (const Row& row : SampleRows(dialect)) EXPECT_EQ(FormatConfig(*ParseConfig(row.config_text)), row.config_text);
  }
}

TEST(Samples, RunIdsAreThoseThatHelionComputed) {
  size_t helion = 0;
  for (const MetaRecord& meta : SampleRecords(".meta.jsonl")) {
    const v1::Run& run = meta.run;
    if (run.has_settings_json()) {
      ++helion;
      EXPECT_EQ(RunIdHelion(run.kernel_source(), *ParseJson(run.settings_json()), run.input_shapes(), run.dtypes(),
                            run.hardware()),
                run.run_id());
    } else {
      EXPECT_EQ(RunIdPr2750(run.kernel_id(), run.input_shapes(), run.dtypes(), run.hardware()), run.run_id());
    }
  }
  EXPECT_GE(helion, 2u);
}

TEST(Samples, KernelIdsAreThoseThatHelionComputed) {
  for (const std::string_view suffix : {".meta.jsonl"}) {
    for (const MetaRecord& meta : SampleRecords(suffix)) {
      EXPECT_EQ(KernelId(meta.run.kernel_source(), meta.run.settings_signature()), meta.run.kernel_id());
    }
  }
}

TEST(Samples, SampleIdsAreThoseThatHelionComputed) {
  std::map<std::string, std::string> sources;
  for (const MetaRecord& meta : SampleRecords(".meta.jsonl")) sources[meta.run.run_id()] = meta.run.kernel_source();
  const std::vector<Row> rows = SampleRows(Dialect::kPr2750);
  ASSERT_THAT(rows, SizeIs(366));
  for (const Row& row : rows) {
    EXPECT_EQ(SampleId(sources[row.run_id], row.decorator), row.sample_id);
    EXPECT_EQ(SignatureOfDecorator(row.decorator, row.config_text), "static_shapes=True");
    EXPECT_EQ(Decorator(row.config_text, "static_shapes=True"), row.decorator);
  }
}

TEST(Samples, APr2699RecordGetsTheRunIdThatPr2750WouldGiveIt) {
  const absl::StatusOr<MetaRecord> meta = ParseMetaRecord(*ParseJson(ReadFile(SampleFiles(".meta.json").at(0))));
  ASSERT_TRUE(meta.ok()) << meta.status();
  const v1::Run& run = meta->run;
  EXPECT_EQ(run.settings_signature(), "static_shapes=True");
  EXPECT_EQ(run.run_id(), RunIdPr2750(run.kernel_id(), run.input_shapes(), run.dtypes(), run.hardware()));
  for (const Row& row : SampleRows(Dialect::kPr2699)) {
    EXPECT_EQ(row.sample_id, SampleId(run.kernel_source(), Decorator(row.config_text, run.settings_signature())));
  }
}

}  // namespace
}  // namespace telemetry::record::sidecar
