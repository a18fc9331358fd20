#include "worker/tune/search/effort.h"

#include "proto/record/strings.h"

namespace telemetry::worker::tune::search {

absl::StatusOr<Effort> ParseEffort(std::string_view text) {
  for (const Effort effort : {Effort::kNone, Effort::kQuick, Effort::kFull}) {
    if (EffortName(effort) == text) return effort;
  }
  return absl::InvalidArgumentError(record::Cat("unknown effort '", text, "'; choose none, quick or full"));
}

std::string_view EffortName(Effort effort) {
  switch (effort) {
    case Effort::kNone:
      return "none";
    case Effort::kQuick:
      return "quick";
    case Effort::kFull:
      break;
  }
  return "full";
}

}  // namespace telemetry::worker::tune::search
