#include "server/storage/record_sizes.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "server/storage/validate.h"
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
  return {.source_bytes = 100,
          .ir_graph_bytes = 100,
          .config_bytes = 100,
          .json_bytes = 100,
          .failure_bytes = 100,
          .event_bytes = 100};
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
SizeCase MakeCase(const std::string& flag, const std::string& field, Set set) {
  SizeCase size{.flag = flag, .field = field, .fits = {}, .too_large = {}};
  set(size.fits, std::string(100, 'x'));
  set(size.too_large, std::string(101, 'x'));
  return size;
}

std::vector<SizeCase> SizeCases() {
  const std::string json = "--max-json-bytes";
  return {
      MakeCase("--max-source-bytes", "kernel_source",
               [](v1::Record& record, std::string text) { record.mutable_run()->set_kernel_source(text); }),
      MakeCase("--max-config-bytes", "the config's text",
               [](v1::Record& record, std::string text) { record.mutable_config()->set_text(text); }),
      // The encoding adds two bytes.
      MakeCase("--max-ir-graph-bytes", "the IR graph",
               [](v1::Record& record, std::string text) { record.mutable_ir_graph()->set_kind(text.substr(2)); }),
      MakeCase(json, "settings_json",
               [](v1::Record& record, std::string text) { record.mutable_run()->set_settings_json(text); }),
      MakeCase(json, "extra_json",
               [](v1::Record& record, std::string text) { record.mutable_run()->set_extra_json(text); }),
      MakeCase(json, "environment_json",
               [](v1::Record& record, std::string text) { record.mutable_attempt()->set_environment_json(text); }),
      MakeCase(json, "counters_json",
               [](v1::Record& record, std::string text) { record.mutable_attempt()->set_counters_json(text); }),
      MakeCase("--max-config-bytes", "decorator",
               [](v1::Record& record, std::string text) { record.mutable_run_config()->set_decorator(text); }),
      // The encoding adds two bytes.
      MakeCase("--max-failure-bytes", "failure",
               [](v1::Record& record, std::string text) {
                 record.mutable_measurement()->mutable_failure()->set_message(text.substr(2));
               }),
      MakeCase("--max-event-bytes", "the event's text",
               [](v1::Record& record, std::string text) { record.mutable_attempt_event()->set_text(text); }),
      MakeCase(json, "record_keys_json",
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

TEST(RecordSizes, TextsAndNamesHaveFixedLimits) {
  v1::Record row;
  row.mutable_measurement()->set_status(std::string(kMaxNameBytes, 's'));
  EXPECT_FALSE(CheckSizes(row, RecordSizes()));
  row.mutable_measurement()->mutable_status()->push_back('s');
  EXPECT_EQ(CheckSizes(row, RecordSizes())->message, "status has 4097 bytes; this collector takes at most 4096");
  v1::Record run;
  run.mutable_run()->set_dtypes(std::string(kMaxTextBytes + 1, 'd'));
  EXPECT_THAT(CheckSizes(run, RecordSizes())->message, HasSubstr("dtypes has 65537 bytes"));
}

TEST(RecordSizes, ListsHaveLimits) {
  v1::Record attempt;
  for (uint64_t i = 0; i < kMaxSuperseded; ++i) attempt.mutable_attempt()->add_supersedes(std::string(16, 'x'));
  EXPECT_FALSE(CheckSizes(attempt, RecordSizes()));
  attempt.mutable_attempt()->add_supersedes(std::string(16, 'x'));
  EXPECT_THAT(CheckSizes(attempt, RecordSizes())->message, HasSubstr("supersedes has 257 ids"));
  v1::Record graph;
  for (uint64_t i = 0; i <= kMaxGraphParts; ++i) graph.mutable_ir_graph()->add_edges();
  EXPECT_THAT(CheckSizes(graph, RecordSizes())->message, HasSubstr("the IR graph has 32769 nodes and edges"));
  v1::Record detail;
  for (uint64_t i = 0; i <= kMaxSamples; ++i) detail.mutable_measurement_detail()->add_samples_ms(1);
  EXPECT_THAT(CheckSizes(detail, RecordSizes())->message, HasSubstr("samples_ms has 65537 samples"));
}

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// The fields from a record to a field of it or of one of its sub-messages.
using Path = std::vector<const FieldDescriptor*>;

// Adds the paths of the fields whose size is not fixed: texts, bytes and repeated fields.
void AddPaths(const Descriptor& message, const Path& prefix, std::vector<Path>& paths) {
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    Path path = prefix;
    path.push_back(&field);
    const bool text = field.cpp_type() == FieldDescriptor::CPPTYPE_STRING;
    if (field.is_repeated() || text) paths.push_back(path);
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) AddPaths(*field.message_type(), path, paths);
  }
}

std::string PathName(const Path& path) {
  std::string name;
  for (const FieldDescriptor* field : path) name += "." + field->name();
  return name.substr(1);
}

// Returns the message that holds the path's field. Creates it if it does not exist.
Message& MutableHolder(v1::Record& record, const Path& path) {
  Message* message = &record;
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    const Reflection& reflection = *message->GetReflection();
    message =
        path[i]->is_repeated() ? reflection.AddMessage(message, path[i]) : reflection.MutableMessage(message, path[i]);
  }
  return *message;
}

// Above every limit except that of a complete record.
constexpr size_t kLargeBytes = (size_t{4} << 20) + 1;
constexpr int kMany = 300'000;

void SetLarge(v1::Record& record, const Path& path) {
  Message& holder = MutableHolder(record, path);
  const Reflection& reflection = *holder.GetReflection();
  const std::string large(kLargeBytes, 'x');
  if (path.back()->is_repeated()) {
    reflection.AddString(&holder, path.back(), large);
  } else {
    reflection.SetString(&holder, path.back(), large);
  }
}

void AddMany(v1::Record& record, const Path& path) {
  Message& holder = MutableHolder(record, path);
  const Reflection& reflection = *holder.GetReflection();
  for (int i = 0; i < kMany; ++i) {
    switch (path.back()->cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        reflection.AddString(&holder, path.back(), std::string(16, 'x'));
        break;
      case FieldDescriptor::CPPTYPE_MESSAGE:
        reflection.AddMessage(&holder, path.back());
        break;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        reflection.AddDouble(&holder, path.back(), 1);
        break;
      default:
        FAIL() << "no limit is known for a list of this type: " << PathName(path);
    }
  }
}

// A new field of any record needs a limit, or a reason in this test why it has none.
TEST(RecordSizes, EveryFieldOfEveryRecordHasALimit) {
  // Validate() accepts only one length of these. The bytes of a reject are limited by the record's own limit.
  const std::set<std::string> fixed = {"run.run_id",
                                       "run.kernel_id",
                                       "attempt.attempt_id",
                                       "attempt.run_id",
                                       "attempt.supersedes",
                                       "run_config.run_id",
                                       "run_config.sample_id",
                                       "measurement.attempt_id",
                                       "source_hash.attempt_id",
                                       "measurement_detail.attempt_id",
                                       "attempt_event.attempt_id"};
  const std::set<std::string> unlimited = {"reject.raw"};
  std::vector<Path> paths;
  AddPaths(*v1::Record::descriptor(), {}, paths);
  ASSERT_GT(paths.size(), 60u);
  for (const Path& path : paths) {
    const std::string name = PathName(path);
    if (unlimited.contains(name)) continue;
    if (path.back()->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      v1::Record record;
      SetLarge(record, path);
      const MaybeRefusal refusal = fixed.contains(name) ? Validate(record) : CheckSizes(record, RecordSizes());
      EXPECT_TRUE(refusal) << name << " takes a text of any size";
    }
    if (path.back()->is_repeated()) {
      v1::Record record;
      AddMany(record, path);
      EXPECT_TRUE(CheckSizes(record, RecordSizes())) << name << " takes any number";
    }
  }
}

// The lines of sidecars are about as large as their records.
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
