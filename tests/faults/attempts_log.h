#pragma once

#include <cstdint>
#include <string>

#include "telemetry/v1/records.pb.h"

namespace telemetry::faults {

// The log of a producer that makes one attempt of its run after another, so that retention has attempts to remove: a
// run, a config, and then for each attempt its begin, its rows and its end.
inline constexpr uint64_t kRowsPerAttempt = 100;

// Returns record `seq` (from 1) of producer `number`. All records differ.
v1::Record MakeAttemptsRecord(int number, uint64_t seq);
std::string RunIdOf(int number);
// `attempt` is from 0.
std::string AttemptIdOf(int number, uint64_t attempt);
// Returns row `row` (from 1) of an attempt.
v1::Measurement RowOf(int number, uint64_t attempt, uint64_t row);

// Returns the number of attempts whose begin is among the first `records` records.
uint64_t AttemptsBegun(uint64_t records);
// Returns the number of the attempt's rows among the first `records` records.
uint64_t RowsAmong(uint64_t attempt, uint64_t records);

}  // namespace telemetry::faults
