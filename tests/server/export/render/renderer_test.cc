#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "proto/record/ids.h"
#include "proto/record/sidecar/trace_line.h"
#include "server/export/render/dataset_renderer.h"
#include "tests/server/export/memory_dataset.h"
#include "tests/server/export/render/render.h"

namespace telemetry::exporter::render {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kFour[] = "Config(num_warps=4)";
constexpr char kEight[] = "Config(num_warps=8)";
constexpr char kTwo[] = "Config(num_stages=1, num_warps=2)";

std::map<Part, std::string> MustRender(const MemoryDataset& dataset, Layout layout = Layout::kHelion,
                                       int rows_per_item = 1000) {
  absl::StatusOr<std::map<Part, std::string>> parts = Render(dataset.Source(rows_per_item), layout);
  EXPECT_TRUE(parts.ok()) << parts.status();
  return parts.value_or(std::map<Part, std::string>());
}

std::string ConfigIdText(const char* config_text) { return record::FormatConfigId(ComputeConfigId(config_text)); }

v1::RunConfig Listed(const char* config_text, const std::string& keys_json) {
  v1::RunConfig run_config;
  run_config.set_config_id(ComputeConfigId(config_text));
  run_config.set_record_keys_json(keys_json);
  return run_config;
}

TEST(Renderer, AnEmptyDatasetHasAHeaderAndEmptyRecords) {
  auto parts = MustRender(MemoryDataset());
  EXPECT_EQ(parts[Part::kRows], "run_id,timestamp_s,config_id,generation,status,perf_ms,compile_time_s,config\r\n");
  EXPECT_EQ(parts.size(), 3u);  // rows, meta, attempts
  EXPECT_EQ(parts[Part::kMeta], "");
  EXPECT_EQ(parts[Part::kAttempts], "");
}

TEST(Renderer, AConfigWithQuotesIsQuotedAsCsv) {
  MemoryDataset dataset;
  const std::string text = "Config(note=\"it's\")";
  dataset.Run(Id64('1')).Attempt('A').Add({.config_text = text, .status = "started", .timestamp_s = 0.5});
  EXPECT_THAT(MustRender(dataset)[Part::kRows], HasSubstr(",0,started,,,\"Config(note=\"\"it's\"\")\"\r\n"));
}

TEST(Renderer, SourceHashesHaveTheirOwnFile) {
  MemoryDataset dataset;
  dataset.Run(Id64('1'))
      .Attempt('A')
      .Add({.config_text = kFour, .status = "started", .timestamp_s = 1})
      .Add({.config_text = kFour, .status = "ok", .timestamp_s = 2.25, .perf_ms = 0.5, .source_hash = "abc123"})
      .Add({.config_text = kEight, .status = "error", .timestamp_s = 3, .generation = 2, .source_hash = "def456"});
  EXPECT_EQ(MustRender(dataset)[Part::kSources],
            "run_id,timestamp_s,config_id,generation,status,source_hash\r\n" +     //
                Id64('1') + ",2.25," + ConfigIdText(kFour) + ",0,ok,abc123\r\n" +  //
                Id64('1') + ",3.00," + ConfigIdText(kEight) + ",2,error,def456\r\n");
}

TEST(Renderer, ARecordListsItsConfigsInTheOrderOfTheRowsThenById) {
  MemoryDataset dataset;
  dataset.Run(SoftmaxRun('1'))
      .RunConfig(Listed(kFour, "[\"num_warps\"]"))
      .RunConfig(Listed(kTwo, "[\"num_warps\", \"num_stages\"]"))
      .Config(ComputeConfigId(kTwo), kTwo)
      .Attempt('A')
      .Add({.config_text = kEight})  // tried, and not listed
      .Add({.config_text = kFour});
  EXPECT_THAT(MustRender(dataset)[Part::kMeta],
              HasSubstr("\"configs\": {\"" + ConfigIdText(kFour) + "\": {\"num_warps\": 4}, \"" + ConfigIdText(kTwo) +
                        "\": {\"num_warps\": 2, \"num_stages\": 1}}}\n"));
}

TEST(Renderer, WhereNoRecordListsConfigsAllOfTheRowsAreListed) {
  MemoryDataset dataset;
  dataset.Run(SoftmaxRun('1')).Attempt('A').Add({.config_text = kTwo}).Add({.config_text = kFour});
  dataset.Attempt('B').Add({.config_text = kTwo}).Add({.config_text = kEight});
  EXPECT_THAT(MustRender(dataset)[Part::kMeta],
              HasSubstr("\"configs\": {\"" + ConfigIdText(kTwo) + "\": {\"num_stages\": 1, \"num_warps\": 2}, \"" +
                        ConfigIdText(kFour) + "\": {\"num_warps\": 4}, \"" + ConfigIdText(kEight) +
                        "\": {\"num_warps\": 8}}}\n"));
}

TEST(Renderer, AConfigThatTwoRunsShareStandsInBothRecords) {
  MemoryDataset dataset;
  dataset.Run(SoftmaxRun('1')).Attempt('A').Add({.config_text = kFour});
  dataset.Run(SoftmaxRun('2')).Attempt('A').Add({.config_text = kFour});
  const std::string listed = "\"configs\": {\"" + ConfigIdText(kFour) + "\": {\"num_warps\": 4}}}\n";
  const std::string meta = MustRender(dataset)[Part::kMeta];
  const size_t first = meta.find(listed);
  ASSERT_NE(first, std::string::npos);
  EXPECT_NE(meta.find(listed, first + 1), std::string::npos);
}

// Returns a source that delivers one dataset after the other, like the runs of two senders.
DatasetSource Behind(DatasetSource one, DatasetSource other) {
  return [one = std::move(one), other = std::move(other)](const v1::ExportRequest& request, const ItemSink& sink) {
    absl::Status status = one(request, sink);
    return status.ok() ? other(request, sink) : status;
  };
}

TEST(Renderer, SendersThatSayTheSameOfARunHaveOneRecord) {
  MemoryDataset one;
  MemoryDataset other;
  one.Run(SoftmaxRun('1')).Attempt('A').Add({.config_text = kFour});
  other.Run(SoftmaxRun('1')).Attempt('B').Add({.config_text = kEight}).Add({.config_text = kFour});
  for (const Layout layout : {Layout::kHelion, Layout::kPr2750, Layout::kPr2699}) {
    auto parts = Render(Behind(one.Source(), other.Source()), layout);
    ASSERT_TRUE(parts.ok()) << parts.status();
    const std::string& meta = (*parts)[Part::kMeta];
    EXPECT_EQ(meta.find("kernel_name"), meta.rfind("kernel_name")) << meta;
    if (layout != Layout::kHelion) continue;
    EXPECT_THAT(meta, HasSubstr("\"configs\": {\"" + ConfigIdText(kFour) + "\": {\"num_warps\": 4}, \"" +
                                ConfigIdText(kEight) + "\": {\"num_warps\": 8}}}\n"));
  }
}

TEST(Renderer, SendersThatContradictEachOtherHaveEachTheirOwnRecordAndConfigs) {
  MemoryDataset one;
  MemoryDataset other;
  v1::Run forged = SoftmaxRun('1');
  forged.set_kernel_name("evil");
  one.Run(forged).Attempt('A').Add({.config_text = kFour});
  other.Run(SoftmaxRun('1')).Attempt('B').Add({.config_text = kFour});
  const DatasetSource with_other_text = [&](const v1::ExportRequest& request, const ItemSink& sink) {
    return one.Source()(request, [&](const v1::ExportItem& item) {
      v1::ExportItem changed = item;
      if (changed.has_configs()) changed.mutable_configs()->mutable_configs(0)->set_text("Config(num_warps=666)");
      return sink(changed);
    });
  };
  auto alone = MustRender(other);
  auto parts = Render(Behind(with_other_text, other.Source()), Layout::kHelion);
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_THAT((*parts)[Part::kMeta], HasSubstr(alone[Part::kMeta]));
  EXPECT_THAT((*parts)[Part::kMeta], HasSubstr("{\"num_warps\": 666}"));
  EXPECT_THAT((*parts)[Part::kRows], ::testing::EndsWith("Config(num_warps=4)\r\n"));
  EXPECT_THAT((*parts)[Part::kRows], HasSubstr("Config(num_warps=666)\r\n"));
  auto single = Render(Behind(with_other_text, other.Source()), Layout::kPr2699);
  EXPECT_TRUE(absl::IsInvalidArgument(single.status())) << single.status();
}

TEST(Renderer, TheSizeOfTheItemsDoesNotShow) {
  MemoryDataset dataset;
  dataset.Run(SoftmaxRun('1')).Attempt('A');
  for (int i = 0; i < 50; ++i) {
    dataset.Add({.config_text = i % 3 == 0 ? kFour : kEight, .timestamp_s = i * 0.1, .source_hash = "aa"});
  }
  EXPECT_EQ(MustRender(dataset, Layout::kHelion, 1), MustRender(dataset, Layout::kHelion, 7));
}

TEST(Renderer, ManyRowsComeInSeveralPiecesAndAllOfThem) {
  MemoryDataset dataset;
  dataset.Run(SoftmaxRun('1')).Attempt('A');
  constexpr int kRows = 20'000;
  for (int i = 0; i < kRows; ++i) dataset.Add({.config_text = kFour, .timestamp_s = 1.0 * i});
  int pieces = 0;
  std::string rows;
  DatasetRenderer renderer(Layout::kHelion, [&](Part part, std::string* text) {
    if (part == Part::kRows) {
      ++pieces;
      rows += *text;
    }
    text->clear();
    return absl::OkStatus();
  });
  ASSERT_TRUE(dataset.Source()({}, [&](const v1::ExportItem& item) { return renderer.Add(item); }).ok());
  ASSERT_TRUE(renderer.Finish().ok());
  EXPECT_GT(pieces, 1);
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), kRows + 1);
  EXPECT_EQ(renderer.counts().measurements, static_cast<uint64_t>(kRows));
}

TEST(Renderer, CountsWhatWasWritten) {
  MemoryDataset dataset;
  dataset.Run(SoftmaxRun('1'))
      .Attempt('A')
      .Add({.config_text = kFour, .status = "started"})
      .Add({.config_text = kFour, .status = "ok"})
      .Add({.config_text = kEight, .status = "started"});
  dataset.Run(Id64('2')).Attempt('A').Add({.config_text = kFour, .status = "started"});
  DatasetRenderer renderer(Layout::kHelion, [](Part, std::string* text) {
    text->clear();
    return absl::OkStatus();
  });
  ASSERT_TRUE(dataset.Source()({}, [&](const v1::ExportItem& item) { return renderer.Add(item); }).ok());
  ASSERT_TRUE(renderer.Finish().ok());
  const DatasetCounts& counts = renderer.counts();
  EXPECT_EQ(counts.runs, 2u);
  EXPECT_EQ(counts.attempts, 2u);
  EXPECT_EQ(counts.measurements, 4u);
  EXPECT_EQ(counts.configs, 2u);
  EXPECT_EQ(counts.records, 1u);
  EXPECT_EQ(counts.measurements_by_status, (std::map<std::string, uint64_t>{{"ok", 1}, {"started", 3}}));
}

TEST(Renderer, AWrapperGraphDoesNotStandAmongTheDeviceGraphs) {
  v1::IrGraph graph;
  graph.set_run_id(Id64('1'));
  graph.set_directed(true);
  graph.set_attributes_json("{\"num_graphs\": 1}");
  MemoryDataset dataset;
  dataset.Run(SoftmaxRun('1'));
  graph.set_kind("device");
  dataset.Graph(graph);
  graph.set_kind("wrapper");
  dataset.Graph(graph);
  auto parts = MustRender(dataset, Layout::kPr2750);
  EXPECT_EQ(std::count(parts[Part::kIr].begin(), parts[Part::kIr].end(), '\n'), 1);
  EXPECT_EQ(std::count(parts[Part::kWrapperIr].begin(), parts[Part::kWrapperIr].end(), '\n'), 1);
}

TEST(Renderer, EventsAreLinesOfTheTraceInTheHelionLayoutOnly) {
  MemoryDataset dataset;
  dataset.Run(Id64('1')).Attempt('A').Add({}).Event("{\"event\": \"a\"}").Event(" as it was\r");
  dataset.Run(Id64('2')).Attempt('B').Event("{}");
  EXPECT_EQ(MustRender(dataset)[Part::kTrace], "{\"event\": \"a\"}\n as it was\r\n{}\n");
  for (const Layout layout : {Layout::kPr2750, Layout::kV11, Layout::kKeyed}) {
    EXPECT_EQ(MustRender(dataset, layout).count(Part::kTrace), 0u) << LayoutName(layout);
  }
}

TEST(Renderer, RowsThatOnlyATraceHadAreNotInTheCsvOfASidecar) {
  v1::Attempt attempt;
  attempt.set_attempt_id(std::string(16, 'A'));
  attempt.set_dialect("helion");
  MemoryDataset dataset;
  dataset.Run(Id64('1'))
      .Attempt(attempt)
      .Add({.config_text = kFour, .perf_ms = 0.5})
      .Add({.config_text = kEight, .perf_ms = 0.25, .seq = record::sidecar::kFirstTraceSeq + 4});
  for (const Layout layout : {Layout::kHelion, Layout::kPr2750, Layout::kPr2699, Layout::kV11}) {
    EXPECT_THAT(MustRender(dataset, layout)[Part::kRows], Not(HasSubstr("num_warps=8"))) << LayoutName(layout);
  }
  EXPECT_THAT(MustRender(dataset, Layout::kKeyed)[Part::kRows], HasSubstr("num_warps"));
  EXPECT_THAT(MustRender(dataset, Layout::kKeyed)[Part::kRows], HasSubstr(",281474976710660,"));
}

TEST(Renderer, SeveralRunsDoNotFitIntoPr2699) {
  MemoryDataset dataset;
  dataset.Run(SoftmaxRun('1')).Run(SoftmaxRun('2'));
  absl::Status status = Render(dataset.Source(), Layout::kPr2699).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("--run"));
}

TEST(Renderer, RowsOfWhichMoreIsKnownHaveALineOfDetails) {
  MemoryDataset dataset;
  v1::Failure failure;
  failure.set_phase("compile");
  v1::MeasurementDetail detail;
  detail.set_registers(40);
  dataset.Run(SoftmaxRun('1'))
      .Attempt('A')
      .Add({.config_text = kFour, .status = "started"})
      .Add({.config_text = kFour, .detail = detail})
      .Add({.config_text = kEight, .status = "error", .failure = failure})
      .Add({.config_text = kTwo, .status = "error", .failure = failure, .detail = detail});
  std::string pieces[2];
  for (const int rows_per_item : {1, 1000}) {
    std::string& lines = pieces[rows_per_item == 1];
    DatasetRenderer renderer(
        Layout::kHelion,
        [&](Part part, std::string* text) {
          if (part == Part::kDetails) lines += *text;
          text->clear();
          return absl::OkStatus();
        },
        /*with_details=*/true);
    const auto add = [&](const v1::ExportItem& item) { return renderer.Add(item); };
    ASSERT_TRUE(dataset.Source(rows_per_item)({}, add).ok());
    ASSERT_TRUE(renderer.Finish().ok());
    EXPECT_EQ(renderer.counts().details, 3u);
    EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 3);
  }
  EXPECT_EQ(pieces[0], pieces[1]);
  EXPECT_THAT(pieces[0], HasSubstr("\"seq\": 2, \"config_id\": \"" + ConfigIdText(kFour) + "\", \"status\": \"ok\""));
  EXPECT_THAT(pieces[0], HasSubstr("\"registers\": 40"));
  EXPECT_THAT(pieces[0], HasSubstr("\"failure\": {\"phase\": \"compile\""));
}

TEST(Renderer, ADetailWithoutItsRowIsAnError) {
  const auto drop = [](Part, std::string*) { return absl::OkStatus(); };
  DatasetRenderer renderer(Layout::kHelion, drop, /*with_details=*/true);
  v1::ExportItem run;
  *run.mutable_run()->mutable_run() = SoftmaxRun('1');
  v1::ExportItem attempt;
  attempt.mutable_attempt();
  v1::ExportItem rows;
  rows.mutable_rows()->add_details()->set_seq(1);
  ASSERT_TRUE(renderer.Add(run).ok());
  ASSERT_TRUE(renderer.Add(attempt).ok());
  EXPECT_EQ(renderer.Add(rows).code(), absl::StatusCode::kDataLoss);
}

TEST(Renderer, AGraphOfAnUnknownKindIsLeftOutAndCounted) {
  v1::IrGraph graph;
  graph.set_kind("host");
  MemoryDataset dataset;
  dataset.Run(SoftmaxRun('1')).Graph(graph).Attempt('A').Add({.config_text = kFour});
  DatasetRenderer renderer(Layout::kPr2750, [](Part, std::string* text) {
    text->clear();
    return absl::OkStatus();
  });
  ASSERT_TRUE(dataset.Source()({}, [&](const v1::ExportItem& item) { return renderer.Add(item); }).ok());
  ASSERT_TRUE(renderer.Finish().ok());
  EXPECT_EQ(renderer.counts().unknown_ir_graphs, (std::map<std::string, uint64_t>{{"host", 1}}));
  EXPECT_EQ(renderer.counts().ir_graphs, 0u);
  EXPECT_EQ(renderer.counts().measurements, 1u);
}

TEST(Renderer, ALayoutWithoutGraphsHasNothingAgainstThem) {
  v1::IrGraph graph;
  graph.set_kind("host");
  MemoryDataset dataset;
  dataset.Run(SoftmaxRun('1')).Graph(graph);
  EXPECT_TRUE(Render(dataset.Source(), Layout::kV11).ok());
}

TEST(Renderer, ARowWhoseConfigIsMissingIsAnError) {
  DatasetRenderer renderer(Layout::kHelion, [](Part, std::string*) { return absl::OkStatus(); });
  v1::ExportItem run;
  *run.mutable_run()->mutable_run() = SoftmaxRun('1');
  v1::ExportItem attempt;
  attempt.mutable_attempt();
  v1::ExportItem rows;
  rows.mutable_rows()->add_measurements()->set_config_id(0xabc);
  ASSERT_TRUE(renderer.Add(run).ok());
  ASSERT_TRUE(renderer.Add(attempt).ok());
  absl::Status status = renderer.Add(rows);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("0000000000000abc"));
}

TEST(Renderer, RowsBeforeTheirAttemptAreAnError) {
  DatasetRenderer renderer(Layout::kHelion, [](Part, std::string*) { return absl::OkStatus(); });
  v1::ExportItem rows;
  rows.mutable_rows()->add_measurements()->set_config_id(1);
  EXPECT_EQ(renderer.Add(rows).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace telemetry::exporter::render
