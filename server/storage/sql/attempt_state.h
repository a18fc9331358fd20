#pragma once

#include <string_view>

#include "telemetry/v1/records.pb.h"

namespace telemetry::storage::sql {

// The names of v1::Attempt::State in the attempts table, indexed by state.
constexpr std::string_view kAttemptStates[] = {"unspecified", "open", "complete", "abandoned"};

inline std::string_view AttemptStateName(v1::Attempt::State state) { return kAttemptStates[state]; }

inline v1::Attempt::State ParseAttemptState(std::string_view name) {
  for (int state = v1::Attempt::STATE_OPEN; state <= v1::Attempt::STATE_ABANDONED; ++state) {
    if (kAttemptStates[state] == name) return static_cast<v1::Attempt::State>(state);
  }
  return v1::Attempt::STATE_UNSPECIFIED;
}

}  // namespace telemetry::storage::sql
