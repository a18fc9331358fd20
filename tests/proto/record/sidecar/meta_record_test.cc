#include "proto/record/sidecar/meta_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "proto/record/ids.h"
#include "proto/record/sidecar/ir_record.h"
#include "proto/record/strings.h"

namespace telemetry::record::sidecar {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kId(64, 'a');

Json MustParseJson(std::string_view text) {
  const absl::StatusOr<Json> json = ParseJson(text);
  EXPECT_TRUE(json.ok()) << json.status();
  return json.value_or(Json::Null());
}

// Returns `{"run_id": ..., "kernel_name": ...` without the closing brace.
std::string Description(std::string_view ids) {
  return "{" + std::string(ids) +
         R"(, "kernel_name": "add", "kernel_source": "def add", "input_shapes": "[(1,)]", "dtypes": "[]", "hardware": "H")";
}
std::string HelionRecord(std::string_view rest) {
  return Description("\"run_id\": \"" + kId + "\"") + std::string(rest) + "}";
}
std::string Pr2750Record(std::string_view rest) {
  return Description("\"run_id\": \"" + kId + "\", \"kernel_id\": \"" + kId + "\"") + std::string(rest) + "}";
}

std::string IrRecord(std::string_view nodes, std::string_view links, std::string_view rest = "") {
  return R"({"schema_version": 1, "run_id": ")" + kId +
         R"(", "directed": true, "multigraph": false, "graph": {"run_id": ")" + kId +
         R"(", "kernel_id": "", "kernel_name": "", "input_shapes": "", "num_graphs": 1}, "nodes": [)" +
         std::string(nodes) + "], \"links\": [" + std::string(links) + "]" + std::string(rest) + "}";
}

std::string IrThereAndBack(const std::string& line) {
  const absl::StatusOr<v1::IrGraph> graph = ParseIrRecord(MustParseJson(line));
  if (!graph.ok()) return std::string(graph.status().message());
  v1::Run run;
  run.set_run_id(kId);
  return FormatIrRecord(*graph, run);
}

std::string MetaError(const std::string& record) {
  const absl::StatusOr<MetaRecord> meta = ParseMetaRecord(MustParseJson(record));
  if (meta.ok()) return "ok";
  EXPECT_EQ(meta.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(meta.status().message());
}

TEST(MetaRecord, UnknownKeysComeThroughBehindTheKnownOnes) {
  const std::string tail = R"(, "settings": null, "ir_graph": null, "configs": {})";
  const std::string extra = R"(, "zeta": [1, null], "alpha": {"é": 1.50})";
  const absl::StatusOr<MetaRecord> meta = ParseMetaRecord(MustParseJson(HelionRecord(extra + tail)));
  ASSERT_TRUE(meta.ok()) << meta.status();
  EXPECT_EQ(meta->run.extra_json(), R"({"zeta": [1, null], "alpha": {"\u00e9": 1.50}})");
  EXPECT_EQ(FormatHelionMeta(meta->run, nullptr, {}),
            HelionRecord(tail + R"(, "zeta": [1, null], "alpha": {"\u00e9": 1.50})"));
}

TEST(MetaRecord, UnknownKeysOfAPr2750RecordComeThrough) {
  const std::string record = Pr2750Record(R"(, "schema_version": 7)");
  const absl::StatusOr<MetaRecord> meta = ParseMetaRecord(MustParseJson(record));
  ASSERT_TRUE(meta.ok()) << meta.status();
  EXPECT_EQ(FormatPr2750Meta(meta->run), record);
  EXPECT_THAT(FormatPr2699Meta(meta->run), HasSubstr(",\n  \"schema_version\": 7\n}"));
}

TEST(MetaRecord, WithoutUnknownKeysThereAreNoExtras) {
  EXPECT_FALSE(ParseMetaRecord(MustParseJson(Pr2750Record("")))->run.has_extra_json());
}

TEST(MetaRecord, SettingsGraphAndConfigsMayBeAbsent) {
  const absl::StatusOr<MetaRecord> meta = ParseMetaRecord(MustParseJson(HelionRecord("")));
  ASSERT_TRUE(meta.ok()) << meta.status();
  EXPECT_FALSE(meta->run.has_settings_json());
  EXPECT_FALSE(meta->run.has_kernel_id());
  EXPECT_FALSE(meta->ir_graph.has_value());
  EXPECT_THAT(meta->configs, IsEmpty());
}

TEST(MetaRecord, AHelionRecordGetsItsKernelIdFromItsSettings) {
  const absl::StatusOr<MetaRecord> meta =
      ParseMetaRecord(MustParseJson(HelionRecord(R"(, "settings": {"static_shapes": false, "x": 1})")));
  ASSERT_TRUE(meta.ok()) << meta.status();
  EXPECT_EQ(meta->run.settings_signature(), "static_shapes=False");
  EXPECT_EQ(meta->run.kernel_id(), KernelId("def add", "static_shapes=False"));
  EXPECT_EQ(meta->run.settings_json(), R"({"static_shapes": false, "x": 1})");
}

TEST(MetaRecord, ASignatureThatDoesNotGiveTheKernelIdIsNotGuessed) {
  EXPECT_FALSE(ParseMetaRecord(MustParseJson(Pr2750Record("")))->run.has_settings_signature());
}

TEST(MetaRecord, ErrorsNameTheKey) {
  EXPECT_EQ(MetaError("[]"), "not a JSON object");
  EXPECT_EQ(MetaError("{}"), "run_id: missing");
  EXPECT_EQ(MetaError(R"({"run_id": 5})"), "run_id: not a string");
  EXPECT_EQ(MetaError(R"({"run_id": ""})"), "run_id: not 64 lower-case hex digits");
  EXPECT_EQ(MetaError(R"({"run_id": ")" + kId + R"("})"), "kernel_name: missing");
  EXPECT_EQ(MetaError(R"({"kernel_id": null})"), "kernel_id: not a string");
  EXPECT_EQ(MetaError(HelionRecord(R"(, "configs": [])")), "configs: not an object");
  EXPECT_EQ(MetaError(HelionRecord(R"(, "configs": {"x": {}})")), "configs: a config id is 16 lower-case hex digits");
  EXPECT_EQ(MetaError(HelionRecord(R"(, "configs": {"7e2fba4013c19d17": {"num_warps": 8}})")),
            "configs: 7e2fba4013c19d17 is not the id of its config");
  EXPECT_EQ(MetaError(HelionRecord(R"(, "configs": {"7e2fba4013c19d17": {"num_warps": 4}})")), "ok");
  EXPECT_EQ(MetaError(HelionRecord(R"(, "ir_graph": {})")), "ir_graph: directed: missing");
  EXPECT_EQ(MetaError(HelionRecord(R"(, "hardware": "H")")), "hardware: occurs twice in one object");
  EXPECT_EQ(MetaError(HelionRecord(R"(, "ir_graph": 1)")), "ir_graph: not a JSON object");
  const auto graph_with = [](std::string_view rest) {
    return HelionRecord(Cat(
        R"(, "ir_graph": {"directed": true, "multigraph": false, "graph": {}, "nodes": [], "edges": [])", rest, "}"));
  };
  EXPECT_EQ(MetaError(graph_with("")), "ok");
  EXPECT_EQ(MetaError(graph_with(R"(, "links": [])")), "ir_graph: links: conflicts with edges");
  EXPECT_EQ(MetaError(graph_with(R"(, "run_id": "x")")), "ir_graph: run_id: belongs to the record, not to its graph");
}

constexpr char kNode[] =
    R"({"id": "a", "graph_id": 0, "region_kind": null, "block_ids": [1], "op_kind": "x", "target": null, )"
    R"("lowering_class": null, "dtype": null, "shape": ["u0"], "concrete_shape": [null], "stride": null, )"
    R"("concrete_stride": null, "device": null, "value": {"any": NaN}, "input_dtypes": null, "input_shapes": null, )"
    R"("reduction_type": null, "reduction_ranges": null, "pointwise_ranges": null, "source_loc": "f.py:1")";
constexpr char kEdge[] =
    R"({"source": "a", "target": "b", "edge_kind": "data", "arg_positions": [0], "dtype": null, "shape": null})";

TEST(IrRecord, AWholeNodeAndEdgeComeBack) {
  const std::string line = IrRecord(std::string(kNode) + "}", kEdge);
  EXPECT_EQ(IrThereAndBack(line), line);
}

TEST(IrRecord, UnknownKeysComeBack) {
  const std::string line =
      IrRecord(std::string(kNode) + R"(, "new": [1], "newer": null})", kEdge, R"(, "top": {"x": 1.0})");
  EXPECT_EQ(IrThereAndBack(line), line);
}

TEST(IrRecord, AbsentKeysStayAbsent) {
  const std::string line =
      IrRecord(R"({"id": "a"}, {"id": "b", "graph_id": 1, "dtype": null})", R"({"source": "a", "target": "b"})");
  EXPECT_EQ(IrThereAndBack(line), line);
  EXPECT_THAT(ParseIrRecord(MustParseJson(line))->edges(0).omitted(),
              ElementsAre("edge_kind", "arg_positions", "dtype", "shape"));
}

TEST(IrRecord, ValuesOfAnotherTypeComeBackBehindTheOthers) {
  const std::string line = IrRecord(R"({"id": "a", "dtype": null, "graph_id": "zero", "op_kind": 5})", "");
  EXPECT_EQ(IrThereAndBack(line), line);
  EXPECT_EQ(ParseIrRecord(MustParseJson(line))->nodes(0).extra_json(), R"({"graph_id": "zero", "op_kind": 5})");
}

TEST(IrRecord, NumbersThatDoNotFitComeBack) {
  for (const char* graph_id : {"9223372036854775808", "1.0", "-0", "1e2", "null"}) {
    const std::string line = IrRecord(std::string(R"({"id": "a", "graph_id": )") + graph_id + "}", "");
    EXPECT_EQ(IrThereAndBack(line), line);
  }
}

TEST(IrRecord, TheHelionOrderIsAnother) {
  const absl::StatusOr<v1::IrGraph> graph = ParseIrRecord(MustParseJson(IrRecord(std::string(kNode) + "}", kEdge)));
  ASSERT_TRUE(graph.ok()) << graph.status();
  const std::string helion = FormatHelionIrGraph(*graph);
  EXPECT_THAT(
      helion,
      HasSubstr(R"({"directed": true, "multigraph": false, "graph": {"num_graphs": 1}, "nodes": [{"graph_id": 0)"));
  EXPECT_THAT(
      helion,
      HasSubstr(
          R"("edges": [{"edge_kind": "data", "arg_positions": [0], "dtype": null, "shape": null, "source": "a", "target": "b"}])"));
  const absl::StatusOr<v1::IrGraph> again = ParseHelionIrGraph(MustParseJson(helion), kId);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->nodes(0).SerializeAsString(), graph->nodes(0).SerializeAsString());
  EXPECT_EQ(again->edges(0).SerializeAsString(), graph->edges(0).SerializeAsString());
}

TEST(IrRecord, SchemaVersions) {
  const std::string line = IrRecord("", "");
  const auto with_version = [&](std::string_view version) {
    std::string text = line;
    return ParseIrRecord(MustParseJson(text.replace(text.find("1,"), 1, version))).status();
  };
  EXPECT_TRUE(with_version("0").ok());
  EXPECT_EQ(with_version("2").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(with_version("-1").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(with_version("\"1\"").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(with_version("99999999999999999999").code(), absl::StatusCode::kInvalidArgument);

  std::string without = line;
  without.erase(1, std::string_view("\"schema_version\": 1, ").size());
  EXPECT_FALSE(ParseIrRecord(MustParseJson(without))->has_schema_version());
  EXPECT_EQ(IrThereAndBack(without), line) << "written as version 1";
}

TEST(IrRecord, ErrorsNameTheKey) {
  EXPECT_EQ(IrThereAndBack("{}"), "run_id: missing");
  EXPECT_EQ(IrThereAndBack(IrRecord("{}", "")), "nodes[0]: id: missing");
  EXPECT_EQ(IrThereAndBack(IrRecord("{\"id\": \"a\"}, {\"id\": 5}", "")), "nodes[1]: id: not a string");
  EXPECT_EQ(IrThereAndBack(IrRecord("", "{\"source\": \"a\"}")), "links[0]: target: missing");
  EXPECT_EQ(IrThereAndBack(IrRecord("5", "")), "nodes[0]: not an object");
  EXPECT_EQ(IrThereAndBack(IrRecord(R"({"id": "a", "graph_id": 0, "graph_id": 1})", "")),
            "graph_id: occurs twice in one object");
  EXPECT_EQ(IrThereAndBack(IrRecord("", "", R"(, "edges": [])")), "links: conflicts with edges");
}

}  // namespace
}  // namespace telemetry::record::sidecar
