#include "worker/tune/recording/run_description.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/record/ids.h"

namespace telemetry::worker::tune::recording {
namespace {

void AppendShape(std::string* out, const std::vector<int64_t>& shape) {
  absl::StrAppend(out, "(", absl::StrJoin(shape, ", "), shape.size() == 1 ? ",)" : ")");
}

}  // namespace

v1::Run DescribeRun(const RunDescription& description) {
  v1::Run run;
  run.set_kernel_name(description.kernel_name);
  run.set_kernel_source(description.kernel_source);
  run.set_input_shapes(description.input_shapes);
  run.set_dtypes(description.dtypes);
  run.set_hardware(description.hardware);
  run.set_run_id(record::RunIdHelion(description.kernel_source, description.settings, description.input_shapes,
                                     description.dtypes, description.hardware));
  if (description.settings.is_null()) return run;
  run.set_settings_json(record::ToJson(description.settings));
  if (std::optional<std::string> signature = record::SettingsSignature(description.settings); signature.has_value()) {
    run.set_settings_signature(*std::move(signature));
    run.set_kernel_id(record::KernelId(description.kernel_source, run.settings_signature()));
  }
  return run;
}

std::string PythonShapes(absl::Span<const std::vector<int64_t>> shapes) {
  return absl::StrCat("[", absl::StrJoin(shapes, ", ", AppendShape), "]");
}

std::string PythonDTypes(absl::Span<const std::string> names) {
  const auto quoted = [](std::string* out, const std::string& name) { absl::StrAppend(out, "'", name, "'"); };
  return absl::StrCat("[", absl::StrJoin(names, ", ", quoted), "]");
}

}  // namespace telemetry::worker::tune::recording
