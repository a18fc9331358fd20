// Tests each layout with real samples: the files of one attempt of one run survive a round trip byte for byte.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/server/export/render/render.h"
#include "tests/server/export/sample_dataset.h"

namespace telemetry::exporter::render {
namespace {

std::map<Part, std::string> RenderSample(const std::string& name, Layout layout, const v1::Run& run = {}) {
  MemoryDataset dataset;
  AddSample(name, run, &dataset);
  absl::StatusOr<std::map<Part, std::string>> parts = Render(dataset.Source(), layout);
  EXPECT_TRUE(parts.ok()) << parts.status();
  return parts.value_or(std::map<Part, std::string>());
}

TEST(Layouts, HelionRowsAndRecordComeBack) {
  auto parts = RenderSample("helion-main/rms_norm", Layout::kHelion);
  EXPECT_EQ(parts[Part::kRows], ReadSample("helion-main/rms_norm.csv"));
  EXPECT_EQ(parts[Part::kMeta], ReadSample("helion-main/rms_norm.meta.jsonl"));
  EXPECT_FALSE(parts.contains(Part::kSources));
  EXPECT_FALSE(parts.contains(Part::kIr));
}

TEST(Layouts, HelionRowsWithoutARecordHaveAnEmptyMeta) {
  auto parts = RenderSample("helion-main/bmm", Layout::kHelion);
  EXPECT_EQ(parts[Part::kRows], ReadSample("helion-main/bmm.csv"));
  EXPECT_TRUE(parts.contains(Part::kMeta));
  EXPECT_EQ(parts[Part::kMeta], "");
}

TEST(Layouts, Pr2750RowsRecordAndGraphComeBack) {
  auto parts = RenderSample("helion-pr2750/long_sum", Layout::kPr2750);
  EXPECT_EQ(parts[Part::kRows], ReadSample("helion-pr2750/long_sum.csv"));
  EXPECT_EQ(parts[Part::kMeta], ReadSample("helion-pr2750/long_sum.meta.jsonl"));
  EXPECT_EQ(parts[Part::kIr], ReadSample("helion-pr2750/long_sum.ir.jsonl"));
}

TEST(Layouts, Pr2699RowsAndRecordComeBack) {
  auto parts = RenderSample("helion-pr2699/softmax_two_pass", Layout::kPr2699);
  EXPECT_EQ(parts[Part::kRows], ReadSample("helion-pr2699/softmax_two_pass.csv"));
  EXPECT_EQ(parts[Part::kMeta], ReadSample("helion-pr2699/softmax_two_pass.meta.json"));
}

TEST(Layouts, V11HasOnlyRows) {
  auto parts = RenderSample("helion-v1.1/softmax_two_pass", Layout::kV11, SoftmaxRun('a'));
  EXPECT_EQ(parts[Part::kRows], ReadSample("helion-v1.1/softmax_two_pass.csv"));
  EXPECT_FALSE(parts.contains(Part::kMeta));
}

TEST(Layouts, DecoratorAndSampleIdOfPr2750AreComputedWhereOnlyTheSignatureIsKnown) {
  // The same kernel and configs without the RunConfigs, which only the rows contained.
  MemoryDataset whole;
  AddSample("helion-pr2750/long_sum", {}, &whole);
  const DatasetSource without_run_configs = [&](const v1::ExportRequest& request, const ItemSink& sink) {
    return whole.Source()(request, [&](const v1::ExportItem& item) {
      if (item.has_run_configs()) return absl::OkStatus();
      v1::ExportItem changed = item;
      if (item.has_run()) changed.mutable_run()->mutable_run()->set_settings_signature("static_shapes=True");
      return sink(changed);
    });
  };
  auto parts = Render(without_run_configs, Layout::kPr2750);
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_EQ((*parts)[Part::kRows], ReadSample("helion-pr2750/long_sum.csv"));
}

TEST(Layouts, ARecordThatHelionWroteGivesTheIdsOfPr2750) {
  auto parts = RenderSample("helion-main/rms_norm", Layout::kPr2750);
  EXPECT_THAT(parts[Part::kMeta], testing::MatchesRegex(R"(\{"run_id": "[0-9a-f]+", "kernel_id": "[0-9a-f]+", .*)"));
  EXPECT_THAT(parts[Part::kRows], testing::HasSubstr("\"@helion.kernel(config=helion.Config("));
  EXPECT_THAT(parts[Part::kRows], testing::HasSubstr("static_shapes=True)\""));
  EXPECT_THAT(parts[Part::kIr], testing::StartsWith("{\"schema_version\": 1, \"run_id\": \"a49da400"));
}

TEST(Layouts, WhatNobodyKnowsIsLeftEmpty) {
  auto parts = RenderSample("helion-main/bmm", Layout::kPr2750);  // no record, so neither source nor settings are known
  EXPECT_THAT(parts[Part::kRows], testing::HasSubstr("0f9156344513f951b806f6be4990520694f54b53c1a878b396970a01223393bb,"
                                                     ",,6.60,1,0,started,,0.04,,\"Config("));
}

TEST(Layouts, APr2750RunBecomesAHelionRecordWithItsConfigsInTheOrderOfTheRows) {
  auto parts = RenderSample("helion-pr2750/long_sum", Layout::kHelion);
  const std::string& record = parts[Part::kMeta];
  EXPECT_THAT(record, testing::HasSubstr("\"settings\": null, \"ir_graph\": {\"directed\": true"));
  EXPECT_THAT(record, testing::HasSubstr("\"edges\": ["));
  EXPECT_THAT(record, testing::HasSubstr("\"configs\": {\""));
  EXPECT_FALSE(parts.contains(Part::kIr));
}

}  // namespace
}  // namespace telemetry::exporter::render
