#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "worker/tune/tune_session.h"

namespace telemetry::worker::tune {

// Tunes the kernel of a T1 specification. `device` is an argument of OpenDevice; "": the first device that compiles the
// specification's language. The specification's budget is used where `tuner` has no limit. Returns the errors of
// ReadSpecification, OpenDevice, MakeSpecSubject and TuneSession::Tune. NOT_FOUND: no device compiles the language.
absl::StatusOr<TaskResult> RunSpec(TuneSession& session, const std::string& path, const std::string& device,
                                   TunerOptions tuner, const AttemptRules& rules = {});

}  // namespace telemetry::worker::tune
