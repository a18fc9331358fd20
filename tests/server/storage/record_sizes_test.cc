#include "server/storage/record_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/paths.h"

namespace telemetry::storage {
namespace {

using ::testing::HasSubstr;

struct SizeCase {
  std::string flag;
  std::string field;
  v1::Record fits;       // with a limit of 100 bytes
  v1::Record too_large;  // by one byte
};

class RecordSizesTest : public ::testing::TestWithParam<SizeCase> {};

RecordSizes SmallSizes() {
  return {.source_bytes = 100, .ir_graph_bytes = 100, .config_bytes = 100, .json_bytes = 100};
}

TEST_P(RecordSizesTest, WhatIsLargerIsRefusedAndTheFlagNamed) {
  const SizeCase& size = GetParam();
  EXPECT_FALSE(CheckSizes(size.fits, SmallSizes()));
  const MaybeRefusal refusal = CheckSizes(size.too_large, SmallSizes());
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->reason, v1::Reject::REASON_INVALID);
  EXPECT_THAT(refusal->message, HasSubstr(size.field + " has 101 bytes"));
  EXPECT_THAT(refusal->message, HasSubstr(" 100 (its flag " + size.flag + ")"));
}

template <typename Set>
SizeCase Case(const std::string& flag, const std::string& field, Set set) {
  SizeCase size{.flag = flag, .field = field, .fits = {}, .too_large = {}};
  set(size.fits, std::string(100, 'x'));
  set(size.too_large, std::string(101, 'x'));
  return size;
}

std::vector<SizeCase> SizeCases() {
  const std::string json = "--max-json-bytes";
  return {
      Case("--max-source-bytes", "kernel_source",
           [](v1::Record& record, std::string text) { record.mutable_run()->set_kernel_source(text); }),
      Case("--max-config-bytes", "the config's text",
           [](v1::Record& record, std::string text) { record.mutable_config()->set_text(text); }),
      // Two bytes frame it.
      Case("--max-ir-graph-bytes", "the IR graph",
           [](v1::Record& record, std::string text) { record.mutable_ir_graph()->set_kind(text.substr(2)); }),
      Case(json, "settings_json",
           [](v1::Record& record, std::string text) { record.mutable_run()->set_settings_json(text); }),
      Case(json, "extra_json",
           [](v1::Record& record, std::string text) { record.mutable_run()->set_extra_json(text); }),
      Case(json, "environment_json",
           [](v1::Record& record, std::string text) { record.mutable_attempt()->set_environment_json(text); }),
      Case(json, "counters_json",
           [](v1::Record& record, std::string text) { record.mutable_attempt()->set_counters_json(text); }),
      Case(json, "record_keys_json",
           [](v1::Record& record, std::string text) { record.mutable_run_config()->set_record_keys_json(text); }),
  };
}

INSTANTIATE_TEST_SUITE_P(Fields, RecordSizesTest, ::testing::ValuesIn(SizeCases()), [](const auto& info) {
  std::string name = info.param.field;
  std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); });
  return name;
});

TEST(RecordSizes, ANodesJsonIsLimitedToo) {
  RecordSizes sizes = SmallSizes();
  sizes.ir_graph_bytes = 1000;
  v1::Record node;
  node.mutable_ir_graph()->add_nodes()->set_value_json(std::string(200, '0'));
  EXPECT_THAT(CheckSizes(node, sizes)->message, HasSubstr("a node"));
  v1::Record edge;
  edge.mutable_ir_graph()->add_edges()->set_extra_json(std::string(200, '0'));
  EXPECT_THAT(CheckSizes(edge, sizes)->message, HasSubstr("an edge"));
}

// Sidecars are about as large as their records.
TEST(RecordSizes, RealSidecarsAreFarBelow) {
  const RecordSizes sizes;
  int lines = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(TestdataDir())) {
    if (!entry.is_regular_file()) continue;
    const bool graph = entry.path().string().find(".ir.") != std::string::npos;
    const bool meta = entry.path().string().find(".meta.") != std::string::npos;
    const uint64_t most = graph ? sizes.ir_graph_bytes : meta ? sizes.json_bytes : sizes.config_bytes;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line); ++lines) {
      EXPECT_LT(line.size(), most / 4) << entry.path();
    }
  }
  EXPECT_GT(lines, 0);
}

}  // namespace
}  // namespace telemetry::storage
