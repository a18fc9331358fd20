#include "tests/server/web/web_sample.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace telemetry::web {
namespace {

using storage::AttemptRecord;
using storage::ConfigRecord;
using storage::Row;

v1::Record Run(char run, const std::string& kernel, const std::string& hardware) {
  v1::Record record = storage::RunRecord(run);
  record.mutable_run()->set_kernel_name(kernel);
  record.mutable_run()->set_kernel_source(absl::StrCat("def ", kernel, "(x):\n  ..."));
  record.mutable_run()->set_input_shapes("[(4096, 2560)]");
  record.mutable_run()->set_dtypes("['torch.float16']");
  record.mutable_run()->set_hardware(hardware);
  record.mutable_run()->set_settings_json(R"({"static_shapes": true})");
  return record;
}

std::vector<v1::Record> Configs() {
  const std::vector<std::pair<int, int>> values = {{4, 16}, {8, 16}, {4, 64}, {8, 64}, {8, 32}, {8, 32}};
  std::vector<v1::Record> records;
  for (size_t i = 0; i < values.size(); ++i) {
    records.push_back(ConfigRecord(i + 1, absl::StrCat("Config(num_warps=", values[i].first, ", sizes=[",
                                                       values[i].second, ", 32]", i == 5 ? ", x=1" : "", ")")));
  }
  return records;
}

v1::Record AttemptA() {
  v1::Record record = AttemptRecord('A', 'a');
  v1::Attempt& attempt = *record.mutable_attempt();
  attempt.set_state(v1::Attempt::STATE_COMPLETE);
  attempt.set_origin("ci/1");
  attempt.set_search_algorithm("random");
  attempt.set_seed(7);
  attempt.set_started_unix_us(5000000);
  attempt.set_environment_json(R"({"device": "H200"})");
  attempt.set_counters_json(R"({"configs": 6})");
  return record;
}

v1::Record WithoutTime(uint64_t seq, uint64_t config, const std::string& status, const std::string& message) {
  v1::Record record = Row('A', seq, 1, config);
  v1::Measurement& row = *record.mutable_measurement();
  row.clear_perf_ms();
  row.set_status(status);
  if (message.empty()) return record;
  row.mutable_failure()->set_phase("compile");
  row.mutable_failure()->set_error_class("RuntimeError");
  row.mutable_failure()->set_message(message);
  return record;
}

v1::Record Final(uint64_t seq, double ms) {
  v1::Record record;
  v1::MeasurementDetail& detail = *record.mutable_measurement_detail();
  detail.set_attempt_id(storage::AttemptId('A'));
  detail.set_seq(seq);
  detail.set_stage(v1::MeasurementDetail::STAGE_FINAL);
  detail.set_registers(64);
  for (const double factor : {0.98, 0.99, 1.0, 1.01, 1.02}) detail.add_samples_ms(ms * factor);
  return record;
}

std::vector<v1::Record> RowsOfA() {
  v1::Record first = Row('A', 1, 2, 1);
  first.mutable_measurement()->set_compile_time_s(0.5);
  v1::Record second = Row('A', 2, 1, 2);
  second.mutable_measurement()->set_generation(1);
  return {first,
          second,
          WithoutTime(3, 3, "error", "out of registers: 300 needed\nat line 7"),
          WithoutTime(4, 4, "error", "out of registers: 280 needed"),
          WithoutTime(5, 5, "timeout", ""),
          WithoutTime(6, 6, "started", ""),
          Row('A', 7, 0.9, 2),
          Row('A', 8, 1.8, 1),
          Final(7, 0.9),
          Final(8, 1.8),
          storage::EventRecord('A', 1),
          storage::EventRecord('A', 2, R"({"event": "second"})")};
}

}  // namespace

void SendSample(WebStory* story) {
  story->Send({Run('a', "softmax", "NVIDIA H200"), AttemptA(), storage::GraphRecord('a')});
  story->Send(Configs());
  story->Send(RowsOfA());
  v1::Record open = AttemptRecord('B', 'a');
  open.mutable_attempt()->set_state(v1::Attempt::STATE_OPEN);
  story->Send({open, Row('B', 1, 2.2, 1), Row('B', 2, 1.1, 2)});
  story->Send(Configs(), "ci");
  story->Send({Run('b', "softmax", "NVIDIA A100"), AttemptRecord('C', 'b'), Row('C', 1, 4, 1), Row('C', 2, 6, 2)},
              "ci");
  story->Send({Run('c', "rms_norm", "NVIDIA H200"), AttemptRecord('D', 'c'), Row('D', 1, 8, 1)}, "ci");
  story->Refresh();
}

}  // namespace telemetry::web
