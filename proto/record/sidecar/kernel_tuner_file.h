#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/record/sidecar/measurement_line.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::record::sidecar {

// A cache file or a T4 output file of Kernel Tuner: one search of a kernel, as far as the file describes it. Neither
// kind contains the kernel's source or its inputs. A T4 file of Kernel Tuner does not even contain the kernel's name,
// but one of telemetry-export does.
struct KernelTunerFile {
  enum class Kind { kCache, kT4 };
  Kind kind = Kind::kCache;
  std::string kernel_name;                 // kT4: may be empty
  std::string hardware;                    // kT4: may be empty
  std::string settings_json;               // an object: problem_size, if the file has it
  std::string environment_json;            // an object: kCache: the space; empty: none
  std::optional<int64_t> started_unix_us;  // time of the first row
  std::vector<MeasurementLine> rows;       // in the order of the file; the attempt_id is empty
};

// Returns true if the beginning of a .json file, of a few KiB, is that of a Kernel Tuner file.
bool LooksLikeKernelTunerFile(std::string_view beginning);

// Parses a file. A cache file may lack its end, which Kernel Tuner writes last: the entries before the end are read.
// Reads the keys of Kernel Tuner's T4 writer and of the T4 schema (times.compilation and times.compilation_time), and
// the details that telemetry-export writes as measurements (kernel_tuner_result.h).
// Returns INVALID_ARGUMENT if the text is not such a file or an entry has no config; the message names the entry.
absl::StatusOr<KernelTunerFile> ParseKernelTunerFile(std::string_view text);

}  // namespace telemetry::record::sidecar
