#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/temp_folder.h"
#include "worker/tune/recording/attempt_recorder.h"

namespace telemetry::worker::tune::recording {

// Returns a file's bytes; empty if the file does not exist.
std::string ReadFile(const std::string& path);
void WriteFile(const std::string& path, const std::string& bytes);

// Returns an attempt of softmax whose id is `letter` repeated 16 times.
AttemptInfo SampleAttempt(char letter = 'x');
// Returns its config with `warps` warps.
codegen::Config SampleConfig(int warps);
// Returns the rows of a tuner with three generations of configs: successes, failures, a duplicate.
std::vector<AttemptRow> SampleRows();

// Begins the attempt, records the rows and ends the attempt. Fails the test on an error.
void RecordWhole(const AttemptInfo& info, const std::vector<AttemptRow>& rows, AttemptSinks sinks);

}  // namespace telemetry::worker::tune::recording
