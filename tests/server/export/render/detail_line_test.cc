#include "server/export/render/detail_line.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/server/export/memory_dataset.h"

namespace telemetry::exporter::render {
namespace {

v1::Attempt MakeAttempt(char run) {
  v1::Attempt attempt;
  attempt.set_attempt_id(std::string("\x01\xff") + std::string(14, '\0'));
  attempt.set_run_id(Id64(run));
  return attempt;
}

v1::Measurement MakeRow(const std::string& status) {
  v1::Measurement row;
  row.set_seq(17);
  row.set_config_id(0xabc);
  row.set_status(status);
  return row;
}

const std::string& Head() {
  static const auto& head = *new std::string("{\"run_id\": \"" + Id64('1') +
                                             "\", \"attempt_id\": \"01ff0000000000000000000000000000\", \"seq\": 17, "
                                             "\"config_id\": \"0000000000000abc\", ");
  return head;
}

TEST(DetailLine, HoldsAllThatIsKnown) {
  v1::MeasurementDetail detail;
  detail.set_stage(v1::MeasurementDetail::STAGE_FINAL);
  detail.set_tied_with_best(true);
  for (const double ms : {0.1, 1e-05, 2.0}) detail.add_samples_ms(ms);
  detail.set_throttled_samples(2);
  detail.set_registers(64);
  detail.set_spill_bytes(0);
  detail.set_shared_bytes(49152);
  detail.set_occupancy(0.5);
  detail.set_binary_bytes(12345);
  detail.set_worst_absolute_error(0.25);
  detail.set_worst_relative_error(1e-300);
  detail.set_sm_clock_mhz(1980);
  EXPECT_EQ(FormatDetail(MakeAttempt('1'), MakeRow("ok"), &detail),
            Head() +
                "\"status\": \"ok\", \"stage\": \"final\", \"tied_with_best\": true, "
                "\"samples_ms\": [0.1, 1e-05, 2.0], \"throttled_samples\": 2, \"registers\": 64, "
                "\"spill_bytes\": 0, \"shared_bytes\": 49152, \"occupancy\": 0.5, \"binary_bytes\": 12345, "
                "\"worst_absolute_error\": 0.25, \"worst_relative_error\": 1e-300, \"sm_clock_mhz\": 1980.0, "
                "\"failure\": null}");
}

TEST(DetailLine, AFailureIsSaidAndWhatIsNotKnownIsNull) {
  v1::Measurement row = MakeRow("error");
  row.mutable_failure()->set_phase("run");
  row.mutable_failure()->set_error_class("IllegalAddress");
  row.mutable_failure()->set_message("at \"x\"");
  row.mutable_failure()->set_log_sha256(std::string(32, '\xfe'));
  std::string hash;
  for (int i = 0; i < 32; ++i) hash += "fe";
  EXPECT_EQ(FormatDetail(MakeAttempt('1'), row, nullptr),
            Head() +
                R"("status": "error", "stage": null, "tied_with_best": null, "samples_ms": null, )"
                R"("throttled_samples": null, "registers": null, "spill_bytes": null, "shared_bytes": null, )"
                R"("occupancy": null, "binary_bytes": null, "worst_absolute_error": null, )"
                R"("worst_relative_error": null, "sm_clock_mhz": null, "failure": {"phase": "run", )"
                R"("error_class": "IllegalAddress", "code": null, "message": "at \"x\"", "log_sha256": ")" +
                hash + "\"}}");
}

}  // namespace
}  // namespace telemetry::exporter::render
