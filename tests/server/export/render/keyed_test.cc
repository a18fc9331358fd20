// Tests the keyed layout: rows with their keys, and a record of every run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "proto/record/identity.h"
#include "proto/record/ids.h"
#include "server/export/render/run_line.h"
#include "tests/server/export/memory_dataset.h"
#include "tests/server/export/render/render.h"

namespace telemetry::exporter::render {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::map<Part, std::string> MustRenderKeyed(const MemoryDataset& dataset) {
  absl::StatusOr<std::map<Part, std::string>> parts = Render(dataset.Source(1), Layout::kKeyed);
  EXPECT_TRUE(parts.ok()) << parts.status();
  return parts.value_or(std::map<Part, std::string>());
}

TEST(Keyed, RowsHaveTheirKeysAllDigitsAndTheirHash) {
  MemoryDataset dataset;
  const std::string text = "Config(num_warps=4, pid_type='flat')";
  dataset.Run(SoftmaxRun('1')).Attempt('A').Add({.config_text = text, .status = "started", .timestamp_s = 0.125});
  dataset.Add({.config_text = text,
               .timestamp_s = 2.0009765625,
               .generation = 3,
               .perf_ms = 0.0123456789,
               .compile_time_s = 1.5,
               .source_hash = "abc12345"});
  const std::string begin = Id64('1') + "," + record::HexEncode(std::string(16, 'A')) + ",";
  const std::string config =
      record::FormatConfigId(ComputeConfigId(text)) + ",\"{\"\"num_warps\"\": 4, \"\"pid_type\"\": \"\"flat\"\"}\",";
  EXPECT_EQ(
      MustRenderKeyed(dataset)[Part::kRows],
      "run_id,attempt_id,seq,timestamp_s,generation,status,perf_ms,compile_time_s,config_id,config,source_hash\r\n" +
          begin + "1,0.125,0,started,,," + config + "\r\n" +  //
          begin + "2,2.0009765625,3,ok,0.0123456789,1.5," + config + "abc12345\r\n");
}

TEST(Keyed, AConfigThatIsNoObjectIsAStringAndAnUnknownOneIsEmpty) {
  MemoryDataset dataset;
  dataset.Run(SoftmaxRun('1')).Attempt('A').Config(1, "Config(f(x))").Config(2, "");
  const DatasetSource with_rows = [&](const v1::ExportRequest& request, const ItemSink& sink) {
    if (absl::Status status = dataset.Source()(request, sink); !status.ok()) return status;
    v1::ExportItem item;
    for (const uint64_t config_id : {1, 2}) {
      v1::Measurement* row = item.mutable_rows()->add_measurements();
      row->set_seq(config_id);
      row->set_status("ok");
      row->set_config_id(config_id);
    }
    return sink(item);
  };
  auto parts = Render(with_rows, Layout::kKeyed);
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_THAT((*parts)[Part::kRows], HasSubstr(",0000000000000001,\"\"\"Config(f(x))\"\"\",\r\n"));
  EXPECT_THAT((*parts)[Part::kRows], HasSubstr(",0000000000000002,,\r\n"));
}

TEST(Keyed, ARunWithoutARecordSaysWhatIsUnknown) {
  MemoryDataset dataset;
  dataset.Run(Id64('1')).Attempt('A').Add({});
  EXPECT_EQ(MustRenderKeyed(dataset)[Part::kMeta],
            "{\"run_id\": \"" + Id64('1') +
                "\", \"described\": false, \"kernel_id\": null, \"kernel_name\": null, \"kernel_source\": null, "
                "\"input_shapes\": null, \"dtypes\": null, \"hardware\": null, \"settings_signature\": null, "
                "\"settings\": null, \"extra\": null, \"other_descriptions\": []}\n");
}

TEST(Keyed, SendersThatDifferHaveOneRecordThatNamesAll) {
  v1::Run unknown;
  unknown.set_run_id(Id64('1'));
  v1::Run forged = SoftmaxRun('1');
  forged.set_kernel_name("evil");
  EXPECT_THAT(FormatRun({unknown, forged, SoftmaxRun('1')}),
              testing::AllOf(HasSubstr("\"kernel_name\": \"evil\""), HasSubstr("\"other_descriptions\": [{"),
                             HasSubstr("\"kernel_name\": \"softmax\"")));
  MemoryDataset dataset;
  dataset.Run(forged).Attempt('A').Add({});
  dataset.Run(SoftmaxRun('1')).Attempt('B').Add({});
  dataset.Run(unknown).Attempt('C').Add({});
  const std::string records = MustRenderKeyed(dataset)[Part::kMeta];
  EXPECT_EQ(std::count(records.begin(), records.end(), '\n'), 1) << records;
}

TEST(Keyed, TheDescriptionFromWhichTheRunIdIsDerivedCounts) {
  v1::Run derived = SoftmaxRun('1');
  derived.set_settings_json("{}");
  derived.set_run_id(record::CheckRunId(derived).expected);
  ASSERT_EQ(record::CheckRunId(derived).verdict, record::IdentityCheck::kTrue);
  v1::Run forged = derived;
  forged.set_hardware("TPU");
  const std::string line = FormatRun({forged, derived});
  EXPECT_THAT(line, HasSubstr("\"hardware\": \"NVIDIA H200\", \"settings_signature\""));
  EXPECT_LT(line.find("NVIDIA H200"), line.find("TPU"));
}

TEST(Keyed, GraphsHaveTheirOwnFiles) {
  v1::IrGraph graph;
  graph.set_run_id(Id64('1'));
  graph.set_attributes_json("{\"num_graphs\": 1}");
  MemoryDataset dataset;
  dataset.Run(SoftmaxRun('1'));
  graph.set_kind("device");
  dataset.Graph(graph);
  graph.set_kind("wrapper");
  dataset.Graph(graph);
  auto parts = MustRenderKeyed(dataset);
  EXPECT_THAT(parts[Part::kIr], StartsWith("{\"schema_version\": 1, \"run_id\": \"1111"));
  EXPECT_THAT(parts[Part::kWrapperIr], StartsWith("{\"schema_version\": 1, \"run_id\": \"1111"));
}

}  // namespace
}  // namespace telemetry::exporter::render
