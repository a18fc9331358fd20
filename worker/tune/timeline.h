#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "client/file.h"
#include "proto/base/steady.h"

namespace telemetry::worker::tune {

// A CSV file with the columns step, config, begin_s and end_s: a line for each step of an attempt, in the order in
// which the steps end. Times are seconds since the file was opened. Thread-safe.
//
// Steps without a config: "device" (opened by the tuner), "inputs" (the wait until they are drawn), "input bytes",
// "reference" or "reference sample", "other sample", "baseline code", "reference compile", "image", "problem"
// (uploaded, with the expected results), "reference run", "await last data", "propose" (the search learns results and
// chooses the next configs, on its own thread), "final" and "generate ahead" (the first code of a suite's next entry);
// "child device", "child checks" (their code is compiled) and "child memory" are steps of measuring processes. Steps of
// a config, in this order: "compile" (in a compiler process), "wait" (for its turn to be measured), "load", "run"
// (once), "check", "sample" and "record" (of this config's result, and of the start of the next one). The steps from
// "load" to "sample" of all configs follow each other without overlap; the next config is run while a result is
// recorded. "load ahead" is a part of the "run" of the config before: its code is loaded while the device runs that
// one, and its own "load" takes no time then.
class Timeline {
 public:
  // Creates the file, or empties it. Returns the errors of client::File.
  static absl::StatusOr<std::unique_ptr<Timeline>> Create(const std::string& path);

  void Add(std::string_view step, std::string_view config, SteadyTime begin, SteadyTime end);
  // Returns the first error of writing.
  absl::Status status() const;

 private:
  explicit Timeline(client::File file) : file_(std::move(file)) {}

  double SecondsAt(SteadyTime time) const;

  const SteadyTime opened_ = SteadyNow();
  mutable absl::Mutex mutex_;
  client::File file_ ABSL_GUARDED_BY(mutex_);
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace telemetry::worker::tune
