#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "telemetry/v1/records.pb.h"

namespace telemetry::record {

// The result of comparing an id with the content from which it should be derived (formulas in ids.h).
struct IdentityCheck {
  enum Verdict {
    kTrue,
    kFalse,
    // The content is incomplete, or its formula is not known.
    kUnknown,
  };
  Verdict verdict = kUnknown;
  std::string expected;  // for kFalse: the id of the content, in hex digits
};

// Key of Run.extra_json with the name of the tuner, a string, in runs of a tuner other than Helion.
inline constexpr std::string_view kTunerKey = "tuner";

// Checks whether run_id is derived from the kernel's source, the settings, input shapes, dtypes and hardware, by the
// formula of helion or of pr2750. No other field of such a run enters its id, not even the kernel's name. A run whose
// extra_json has kTunerKey is checked by the formula of RunIdOfTuner() instead.
IdentityCheck CheckRunId(const v1::Run& run);

// Checks whether config_id is derived from the text, a Python call with literals as arguments.
IdentityCheck CheckConfigId(uint64_t config_id, std::string_view text);

}  // namespace telemetry::record
