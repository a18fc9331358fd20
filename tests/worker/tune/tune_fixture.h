#pragma once

#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/worker/tune/record/memory_producer.h"
#include "worker/kernels/library.h"
#include "worker/tune/journal.h"
#include "worker/tune/library_subject.h"
#include "worker/tune/tuner.h"

namespace telemetry::worker::tune {

// A small softmax on the CPU's OpenCL device, tuned by the real processes of telemetry-worker.
class TuneFixture {
 public:
  TuneFixture();
  ~TuneFixture();

  // A subject of its own for each attempt, as each process has.
  LibrarySubject Subject(const std::string& kernel = "softmax",
                         const std::vector<std::string>& arguments = {"x=16x64:f32"});

  // Few random configs, short measurements.
  TunerOptions Options(int configs) const;

  // Tunes with what was recorded so far; `journaled`: with the fixture's journal.
  absl::StatusOr<TuneResult> Tune(LibrarySubject subject, TunerOptions options, bool journaled = false);

  // What was recorded, in order. Rows that came again are counted once.
  std::vector<v1::Measurement> Rows() const;
  // How many results there are of each status.
  std::map<std::string, int> Statuses() const;
  std::vector<v1::Attempt> Attempts() const;
  MemoryProducer& producer() { return producer_; }
  std::string journal_path() const { return (folder_ / "journal").string(); }

 private:
  const std::filesystem::path folder_;
  MemoryProducer producer_;
  std::shared_ptr<Device> device_;
};

}  // namespace telemetry::worker::tune
