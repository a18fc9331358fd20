#include "server/storage/validate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "tests/server/storage/dataset_story.h"

namespace telemetry::storage {
namespace {

struct Case {
  std::string name;
  v1::Record record;
  v1::Reject::Reason reason;
};

v1::Record RowWith(const std::function<void(v1::Measurement&)>& change) {
  v1::Record record = Row('x', 1, 1);
  change(*record.mutable_measurement());
  return record;
}

v1::Record RunWith(const std::function<void(v1::Run&)>& change) {
  v1::Record record = RunRecord('a');
  change(*record.mutable_run());
  return record;
}

v1::Record GraphWith(const std::function<void(v1::IrGraph&)>& change) {
  v1::Record record;
  record.mutable_ir_graph()->set_run_id(RunId('a'));
  record.mutable_ir_graph()->set_kind("device");
  change(*record.mutable_ir_graph());
  return record;
}

v1::Record DetailWith(const std::function<void(v1::MeasurementDetail&)>& change) {
  v1::Record record = DetailRecord('x', 1);
  change(*record.mutable_measurement_detail());
  return record;
}

std::vector<Case> DetailCases() {
  const auto invalid = v1::Reject::REASON_INVALID;
  const double nan = std::nan("");
  constexpr uint64_t kTooMany = uint64_t{1} << 63;
  return {
      {"Detail", DetailRecord('x', 1), v1::Reject::REASON_UNSPECIFIED},
      {"DetailAttemptIdEmpty", DetailWith([](auto& detail) { detail.clear_attempt_id(); }), invalid},
      {"DetailSeqZero", DetailRecord('x', 0), invalid},
      {"DetailStageUnknown",
       DetailWith([](auto& detail) { detail.set_stage(static_cast<v1::MeasurementDetail::Stage>(17)); }), invalid},
      {"DetailSampleNan", DetailWith([&](auto& detail) { detail.add_samples_ms(nan); }), invalid},
      {"DetailSampleNegative", DetailWith([](auto& detail) { detail.add_samples_ms(-1); }), invalid},
      {"DetailThrottledTooMany", DetailWith([](auto& detail) { detail.set_throttled_samples(kTooMany); }), invalid},
      {"DetailRegistersTooMany", DetailWith([](auto& detail) { detail.set_registers(kTooMany); }), invalid},
      {"DetailSpillTooMany", DetailWith([](auto& detail) { detail.set_spill_bytes(kTooMany); }), invalid},
      {"DetailSharedTooMany", DetailWith([](auto& detail) { detail.set_shared_bytes(kTooMany); }), invalid},
      {"DetailBinaryTooMany", DetailWith([](auto& detail) { detail.set_binary_bytes(kTooMany); }), invalid},
      {"DetailOccupancyAboveOne", DetailWith([](auto& detail) { detail.set_occupancy(1.5); }), invalid},
      {"DetailOccupancyNan", DetailWith([&](auto& detail) { detail.set_occupancy(nan); }), invalid},
      {"DetailAbsoluteErrorNan", DetailWith([&](auto& detail) { detail.set_worst_absolute_error(nan); }), invalid},
      {"DetailRelativeErrorNegative", DetailWith([](auto& detail) { detail.set_worst_relative_error(-1); }), invalid},
      {"DetailClockNan", DetailWith([&](auto& detail) { detail.set_sm_clock_mhz(nan); }), invalid},
  };
}

std::vector<Case> Cases() {
  const auto none = v1::Reject::REASON_UNSPECIFIED;
  const auto invalid = v1::Reject::REASON_INVALID;
  const auto version = v1::Reject::REASON_UNSUPPORTED_VERSION;
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  v1::Record newer;
  newer.GetReflection()->MutableUnknownFields(&newer)->AddVarint(99, 1);
  return {
      {"Row", Row('x', 1, 1), none},
      {"LargestSeq", Row('x', (uint64_t{1} << 63) - 1, 1), none},
      {"SeqZero", Row('x', 0, 1), invalid},
      {"SeqTwoToThe63", Row('x', uint64_t{1} << 63, 1), invalid},
      {"PerfNan", Row('x', 1, nan), invalid},
      {"PerfInfinite", Row('x', 1, -infinity), invalid},
      {"TimestampNan", RowWith([&](auto& row) { row.set_timestamp_s(nan); }), invalid},
      {"CompileTimeInfinite", RowWith([&](auto& row) { row.set_compile_time_s(infinity); }), invalid},
      {"StatusEmpty", RowWith([](auto& row) { row.clear_status(); }), invalid},
      {"StatusNew", RowWith([](auto& row) { row.set_status("never seen"); }), none},
      {"ConfigIdZero", Row('x', 1, 1, 0), invalid},
      {"AttemptIdShort", RowWith([](auto& row) { row.set_attempt_id("short"); }), invalid},
      {"LogHashShort", RowWith([](auto& row) { row.mutable_failure()->set_log_sha256("short"); }), invalid},
      {"Run", RunRecord('a'), none},
      {"RunIdEmpty", RunWith([](auto& run) { run.clear_run_id(); }), invalid},
      {"RunIdUpperCase", RunWith([](auto& run) { run.set_run_id(std::string(64, 'A')); }), invalid},
      {"KernelIdNoHex", RunWith([](auto& run) { run.set_kernel_id("x"); }), invalid},
      {"SettingsNoJson", RunWith([](auto& run) { run.set_settings_json("{"); }), invalid},
      {"SettingsWithNan", RunWith([](auto& run) { run.set_settings_json("{\"a\": NaN}"); }), none},
      {"ExtraNoObject", RunWith([](auto& run) { run.set_extra_json("[]"); }), invalid},
      {"ExtraUnknownKey", RunWith([](auto& run) { run.set_extra_json("{\"a\": 1}"); }), none},
      {"ExtraKnownKey", RunWith([](auto& run) { run.set_extra_json("{\"a\": 1, \"run_id\": \"b\"}"); }), invalid},
      {"ConfigTextEmpty", ConfigRecord(7, ""), invalid},
      {"ConfigIdZeroInConfig", ConfigRecord(0, "Config(a=1)"), invalid},
      {"Graph", GraphWith([](auto& graph) { graph.set_schema_version(1); }), none},
      {"GraphTooNew", GraphWith([](auto& graph) { graph.set_schema_version(2); }), version},
      {"GraphKindEmpty", GraphWith([](auto& graph) { graph.clear_kind(); }), invalid},
      {"GraphKindWrapper", GraphWith([](auto& graph) { graph.set_kind("wrapper"); }), none},
      {"GraphKindUnknown", GraphWith([](auto& graph) { graph.set_kind("x"); }), invalid},
      {"GraphExtraUnknownKey", GraphWith([](auto& graph) { graph.set_extra_json("{\"a\": 1}"); }), none},
      {"GraphExtraKnownKey", GraphWith([](auto& graph) { graph.set_extra_json("{\"nodes\": []}"); }), invalid},
      {"GraphAttributes", GraphWith([](auto& graph) { graph.set_attributes_json("{\"num_graphs\": 1}"); }), none},
      {"GraphAttributesWithIdentity", GraphWith([](auto& graph) { graph.set_attributes_json("{\"run_id\": 1}"); }),
       invalid},
      {"NodeShapeNoJson", GraphWith([](auto& graph) { graph.add_nodes()->set_shape_json("[1"); }), invalid},
      {"Empty", v1::Record(), invalid},
      {"KindOfANewerProducer", newer, version},
  };
}

class ValidateTest : public ::testing::TestWithParam<Case> {};

TEST_P(ValidateTest, SaysWhatIsWrong) {
  const MaybeRefusal refusal = Validate(GetParam().record);
  EXPECT_EQ(refusal ? refusal->reason : v1::Reject::REASON_UNSPECIFIED, GetParam().reason)
      << (refusal ? refusal->message : "taken for valid");
}

INSTANTIATE_TEST_SUITE_P(Details, ValidateTest, ::testing::ValuesIn(DetailCases()),
                         [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(Records, ValidateTest, ::testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace telemetry::storage
