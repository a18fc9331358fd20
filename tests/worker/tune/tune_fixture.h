#pragma once

#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/worker/tune/recording/memory_producer.h"
#include "worker/kernels/library.h"
#include "worker/tune/journal.h"
#include "worker/tune/library_subject.h"
#include "worker/tune/tuner.h"

namespace telemetry::worker::tune {

// A small softmax on the CPU's OpenCL device, tuned with the real compiler and measuring processes of telemetry-worker.
class TuneFixture {
 public:
  TuneFixture();
  ~TuneFixture();

  // Returns a new subject. Each attempt needs its own, like in separate processes.
  LibrarySubject Subject(const std::string& kernel = "softmax",
                         const std::vector<std::string>& arguments = {"x=16x64:f32"});

  // Returns arguments of the kernel in the device's memory.
  runtime::Arguments Inputs(const std::string& kernel, const std::vector<std::string>& arguments) const;

  // Returns options for a search of few random configs with short measurements.
  TunerOptions Options(int configs) const;

  // Runs an attempt and appends its records to producer(). Uses the fixture's journal if `journaled`.
  absl::StatusOr<TuneResult> Tune(LibrarySubject subject, TunerOptions options, bool journaled = false);

  absl::StatusOr<TuneResult> Tune(TuneSubject subject, recording::AttemptInfo info, TunerOptions options,
                                  bool journaled = false);

  // Returns the recorded rows in order, without duplicates.
  std::vector<v1::Measurement> Rows() const;
  // Returns the number of results by status.
  std::map<std::string, int> Statuses() const;
  std::vector<v1::Attempt> Attempts() const;
  recording::MemoryProducer& producer() { return producer_; }
  const std::shared_ptr<device::Device>& device() const { return device_; }
  std::string folder() const { return folder_.string(); }
  std::string journal_path() const { return (folder_ / "journal").string(); }

 private:
  const std::filesystem::path folder_;
  recording::MemoryProducer producer_;
  std::shared_ptr<device::Device> device_;
};

}  // namespace telemetry::worker::tune
