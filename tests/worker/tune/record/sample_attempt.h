#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "worker/tune/record/attempt_recorder.h"

namespace telemetry::worker::tune {

// A folder of a test's own, gone when the test is over.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::string File(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// A file's bytes; empty where there is none.
std::string ReadFile(const std::string& path);
void WriteFile(const std::string& path, const std::string& bytes);

// An attempt of softmax whose id is 16 times this letter.
AttemptInfo SampleAttempt(char letter = 'x');
// Its config with so many warps.
record::Json SampleConfig(int warps);
// What a tuner does with two generations of configs: successes, failures, a duplicate.
std::vector<RecordedRow> SampleRows();

// Begins the attempt, records the rows and ends it. Fails the test on an error.
void RecordWhole(const AttemptInfo& info, const std::vector<RecordedRow>& rows, AttemptSinks sinks);

}  // namespace telemetry::worker::tune
