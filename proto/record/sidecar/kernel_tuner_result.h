#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proto/record/json.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::record::sidecar {

// A row in the form of a result of Kernel Tuner; kernel_tuner_file.h reads it. The pointers must outlive the object.
struct KernelTunerResult {
  const v1::Measurement* row = nullptr;           // IsKernelTunerResult(*row)
  const v1::MeasurementDetail* detail = nullptr;  // null: none
  std::optional<int64_t> time_unix_us;            // time of the row; unset: not known
  const Json* configuration = nullptr;            // from ConfigurationOf()
};

// Returns false for a row that is no outcome of a measurement, and that Kernel Tuner has no result for: "started" and
// "deduplicated".
bool IsKernelTunerResult(const v1::Measurement& row);

// Returns the value in a form that every JSON reader accepts: numbers that are not finite, numbers of more than 4000
// digits, and values nested deeper than 64 become strings; of equal keys the last one stays.
Json PortableJson(Json value);

// Returns the arguments of a config's text, such as "Config(a=1)", as a portable object. A text that is not a call with
// literals becomes the only member, "config".
Json ConfigurationOf(std::string_view text);

// Returns an element of `results` in a T4 file: an object. It has the keys of Kernel Tuner's writer and of the T4
// schema. Details of the row are measurements with the names of server/export/DATA.md.
std::string FormatT4Result(const KernelTunerResult& result);

// Returns the value of an entry of a cache file: an object with the parameters and the outcome. A failure is written
// under `time` for Kernel Tuner before 1.4 and under `__error__` for newer ones.
std::string FormatCacheEntry(const KernelTunerResult& result);

// Returns true if an entry of a cache file has a key of this name besides the parameters.
bool IsCacheEntryKey(std::string_view name);

}  // namespace telemetry::record::sidecar
