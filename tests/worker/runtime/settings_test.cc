#include "worker/runtime/settings.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/record/ids.h"

namespace telemetry::worker::runtime {
namespace {

using device::Dialect;
using ::testing::HasSubstr;

TEST(SettingsTest, NoneAreTheDefaults) { EXPECT_EQ(*MakeSettings({}), Settings()); }

TEST(SettingsTest, EachIsReadByItsName) {
  const std::vector<std::pair<NamedSetting, Settings>> cases = {
      {{"static_shapes", "false"}, {.static_shapes = false}},
      {{"index_dtype", "int64"}, {.index_dtype = IndexDType::kInt64}},
      {{"dot_precision", "ieee"}, {.dot_precision = DotPrecision::kIeee}},
      {{"fast_math", "True"}, {.fast_math = true}},
      {{"persistent_reserved_sms", "8"}, {.persistent_reserved_sms = 8}},
      {{"use_default_config", "1"}, {.use_default_config = true}},
      {{"disallow_autotuning", "true"}, {.disallow_autotuning = true}},
      {{"force_autotune", "true"}, {.force_autotune = true}},
      {{"print_output_code", "true"}, {.print_output_code = true}},
      {{"reference_mode", "true"}, {.reference_mode = true}},
  };
  for (const auto& [named, expected] : cases) EXPECT_EQ(*MakeSettings({named}), expected) << named.first;
}

TEST(SettingsTest, RefusalsSayWhatIsAllowed) {
  const std::vector<std::pair<std::vector<NamedSetting>, std::string>> cases = {
      {{{"static_shape", "true"}}, "unknown setting 'static_shape'; valid settings are static_shapes, index_dtype"},
      {{{"static_shapes", "yes"}}, "'static_shapes' cannot be 'yes'; allowed are true, false"},
      {{{"dot_precision", "tf32x3"}}, "'dot_precision' cannot be 'tf32x3'; allowed are tf32, ieee"},
      {{{"persistent_reserved_sms", "-1"}}, "allowed are 0 to 1024"},
      {{{"fast_math", "true"}, {"fast_math", "true"}}, "'fast_math' is given twice"},
  };
  for (const auto& [named, message] : cases) {
    const absl::Status status = MakeSettings(named).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }
}

TEST(SettingsTest, IdentitiesAreComputedOverThem) {
  EXPECT_EQ(record::SettingsSignature(SettingsToJson({}, Dialect::kCuda)), "static_shapes=True");
  EXPECT_EQ(record::SettingsSignature(
                SettingsToJson({.static_shapes = false, .index_dtype = IndexDType::kInt64}, Dialect::kCuda)),
            "static_shapes=False, index_dtype=torch.int64");
}

TEST(SettingsTest, OnlyWhatChangesTheCodeIsPartOfARunsIdentity) {
  const auto run_id = [](const Settings& settings, Dialect dialect = Dialect::kCuda) {
    return record::RunIdHelion("source", SettingsToJson(settings, dialect), "[(8,)]", "['torch.float32']", "H200");
  };
  const std::string usual = run_id({});
  EXPECT_NE(usual, run_id({.static_shapes = false}));
  EXPECT_NE(usual, run_id({.fast_math = true}));
  EXPECT_NE(usual, run_id({.dot_precision = DotPrecision::kIeee}));
  EXPECT_NE(usual, run_id({.persistent_reserved_sms = 1}));
  EXPECT_NE(usual, run_id({}, Dialect::kOpenCl));
  EXPECT_EQ(usual, run_id({.use_default_config = true, .force_autotune = true, .print_output_code = true}));
}

}  // namespace
}  // namespace telemetry::worker::runtime
