#include "worker/forward/run_identity.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/record/ids.h"

namespace telemetry::worker::forward {

absl::StatusOr<v1::Run> RunOfRow(const record::sidecar::Row& row, const v1::Run* record, const IdentityFlags& flags) {
  if (record != nullptr && (row.kernel_id.empty() || row.kernel_id == record->kernel_id())) return *record;

  std::vector<std::string> missing;
  const auto need = [&missing](const std::string& value, const char* flag) {
    if (value.empty()) missing.emplace_back(flag);
  };
  if (row.kernel_id.empty()) need(flags.kernel_source, "--kernel-source");
  need(flags.kernel_name, "--kernel-name");
  need(flags.input_shapes, "--input-shapes");
  need(flags.dtypes, "--dtypes");
  need(flags.hardware, "--hardware");
  if (!missing.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "its rows do not name their run",
        row.kernel_id.empty() ? "" : absl::StrCat(", and no .meta.json beside it describes kernel_id ", row.kernel_id),
        "; give ", absl::StrJoin(missing, ", ")));
  }

  v1::Run run;
  run.set_kernel_id(row.kernel_id.empty() ? record::KernelId(flags.kernel_source, flags.settings_signature)
                                          : row.kernel_id);
  run.set_kernel_name(flags.kernel_name);
  if (!flags.kernel_source.empty()) {
    // The source of another kernel would give the run a wrong source.
    if (record::KernelId(flags.kernel_source, flags.settings_signature) != run.kernel_id()) {
      return absl::FailedPreconditionError(absl::StrCat("--kernel-source with --settings-signature \"",
                                                        flags.settings_signature,
                                                        "\" is not the kernel of its rows, kernel_id ", row.kernel_id));
    }
    run.set_kernel_source(flags.kernel_source);
    run.set_settings_signature(flags.settings_signature);
  }
  run.set_input_shapes(flags.input_shapes);
  run.set_dtypes(flags.dtypes);
  run.set_hardware(flags.hardware);
  run.set_run_id(record::RunIdPr2750(run.kernel_id(), flags.input_shapes, flags.dtypes, flags.hardware));
  return run;
}

}  // namespace telemetry::worker::forward
