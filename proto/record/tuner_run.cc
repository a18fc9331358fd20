#include "proto/record/tuner_run.h"

#include "proto/record/ids.h"

namespace telemetry::record {

std::string RunIdOfTuner(const TunerRun& run) {
  std::string joined = "autotune-telemetry run 1";
  const std::string settings = ToCanonicalJson(run.settings);
  for (const std::string_view part : {run.tuner, run.kernel_name, run.kernel_source, std::string_view(settings),
                                      run.input_shapes, run.dtypes, run.hardware}) {
    joined.push_back('\0');
    joined.append(part);
  }
  return Sha256Hex(joined);
}

}  // namespace telemetry::record
