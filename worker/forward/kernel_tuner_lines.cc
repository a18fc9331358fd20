#include "worker/forward/kernel_tuner_lines.h"

#include <string>
#include <utility>

#include "proto/record/identity.h"
#include "proto/record/ids.h"
#include "proto/record/json.h"
#include "proto/record/tuner_run.h"

namespace telemetry::worker::forward {
namespace {

using record::sidecar::KernelTunerFile;

constexpr char kTuner[] = "kernel_tuner";

v1::Run RunOf(const KernelTunerFile& file, const KernelTunerContext& context) {
  const IdentityFlags& flags = context.identity;
  v1::Run run;
  run.set_kernel_name(!flags.kernel_name.empty() ? flags.kernel_name
                      : file.kernel_name.empty() ? context.name
                                                 : file.kernel_name);
  run.set_kernel_source(flags.kernel_source);
  run.set_input_shapes(flags.input_shapes);
  run.set_dtypes(flags.dtypes);
  run.set_hardware(file.hardware.empty() ? flags.hardware : file.hardware);
  run.set_settings_json(file.settings_json);
  record::Json extra = record::Json::Object();
  extra.members = {{std::string(record::kTunerKey), record::Json::String(kTuner)}};
  run.set_extra_json(record::ToJson(extra));
  run.set_run_id(
      record::RunIdOfTuner({.tuner = kTuner,
                            .kernel_name = run.kernel_name(),
                            .kernel_source = run.kernel_source(),
                            .settings = record::ParseJson(file.settings_json).value_or(record::Json::Object()),
                            .input_shapes = run.input_shapes(),
                            .dtypes = run.dtypes(),
                            .hardware = run.hardware()}));
  return run;
}

std::string AttemptId(const KernelTunerFile& file, const std::string& origin, const std::string& run_id) {
  std::string text = "autotune-telemetry kernel_tuner attempt 1";
  for (const std::string& part : {origin, run_id, file.rows.front().measurement.SerializeAsString()}) {
    text.push_back('\0');
    text += part;
  }
  if (file.started_unix_us.has_value()) text += std::to_string(*file.started_unix_us);
  // A T4 file and a cache file of one search state failures in different words, so they are two attempts of one run.
  if (file.kind == KernelTunerFile::Kind::kT4 && !file.kernel_name.empty()) text += "t4";
  return record::Sha256(text).substr(0, record::kAttemptIdBytes);
}

}  // namespace

std::vector<record::sidecar::MeasurementsLine> LinesOfKernelTuner(const KernelTunerFile& file,
                                                                  const KernelTunerContext& context) {
  std::vector<record::sidecar::MeasurementsLine> lines;
  if (file.rows.empty()) return lines;
  record::sidecar::AttemptLine head{.run = RunOf(file, context)};
  head.attempt.set_attempt_id(AttemptId(file, context.origin, head.run.run_id()));
  head.attempt.set_run_id(head.run.run_id());
  head.attempt.set_origin(context.origin);
  head.attempt.set_dialect(file.kind == KernelTunerFile::Kind::kT4 ? "t4" : kTuner);
  if (file.started_unix_us.has_value()) head.attempt.set_started_unix_us(*file.started_unix_us);
  if (!file.environment_json.empty()) head.attempt.set_environment_json(file.environment_json);
  const std::string attempt_id = head.attempt.attempt_id();
  lines.emplace_back(std::move(head));
  for (record::sidecar::MeasurementLine row : file.rows) {
    row.measurement.set_attempt_id(attempt_id);
    if (row.detail.has_value()) row.detail->set_attempt_id(attempt_id);
    lines.emplace_back(std::move(row));
  }
  return lines;
}

}  // namespace telemetry::worker::forward
