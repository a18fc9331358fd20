#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "telemetry/v1/records.pb.h"

namespace telemetry::record {

// An id held against the content that it claims to be derived from, by the formulas of ids.h.
struct IdentityCheck {
  enum Verdict {
    kTrue,
    kFalse,
    // The content is incomplete, or of a kind whose formula is not known.
    kUnknown,
  };
  Verdict verdict = kUnknown;
  std::string expected;  // kFalse: the id of that content, in hex digits
};

// Checks whether run_id follows from the kernel's source, the settings, input shapes, dtypes and hardware, as helion or
// as pr2750 derives it. Nothing else of the run is part of its id, the kernel's name among it.
IdentityCheck CheckRunId(const v1::Run& run);

// Checks whether config_id follows from the text, a Python call with literals as arguments.
IdentityCheck CheckConfigId(uint64_t config_id, std::string_view text);

}  // namespace telemetry::record
