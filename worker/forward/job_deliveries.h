#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "worker/forward/job_folder.h"

namespace telemetry::worker::forward {

// Functions that tell which records of the sink the collector has acknowledged. Records are numbered in the order of
// their calls of the sink.
struct SinkProgress {
  std::function<uint64_t()> appended_seq;   // number of the last record that the sink received
  std::function<uint64_t()> durable_seq;    // number of the last record that survives a power cut
  std::function<uint64_t()> committed_seq;  // number of the last record that the collector has acknowledged
};

// The state of delivery of job folders: tells each process how much of its files is delivered, and removes the folders
// of ended processes. Not thread-safe.
class JobDeliveries {
 public:
  // `on_problem` is called for a folder that cannot be written to or removed.
  JobDeliveries(SinkProgress progress, std::function<void(const std::string&)> on_problem)
      : progress_(std::move(progress)), on_problem_(std::move(on_problem)) {}

  // Notes that the files of a folder were read up to `bytes`, by name, and passed to the sink.
  void NoteRead(const JobFolder& folder, const std::map<std::string, uint64_t>& bytes);
  // Notes that the process of a folder has ended and that all of its files were read and passed to the sink.
  void NoteComplete(const JobFolder& folder);
  // Notes that an earlier forwarder has passed all files of a folder to the sink, with `seq` as the last record.
  void NoteSpooled(const JobFolder& folder, uint64_t seq);
  bool IsComplete(const std::string& path) const;

  // Publishes what the collector has acknowledged since the last call. Returns the folders that were removed.
  std::vector<std::string> Settle();

  // Returns true if something that was noted is not acknowledged.
  bool pending() const { return pending_; }

 private:
  // Bytes that are acknowledged with a record.
  struct Mark {
    uint64_t seq = 0;
    std::map<std::string, uint64_t> bytes;
  };
  // A folder, with its marks in ascending order.
  struct Job {
    std::deque<Mark> marks;
    std::map<std::string, uint64_t> noted;
    bool complete = false;
    bool spooled = false;  // the folder tells a later forwarder that it is complete
    uint64_t complete_seq = 0;
  };

  // Publishes the acknowledged marks of a folder.
  void Publish(const JobFolder& folder, uint64_t committed, Job* job);
  void Report(const absl::Status& status);

  SinkProgress progress_;
  std::function<void(const std::string&)> on_problem_;
  std::map<std::string, Job> jobs_;  // by path
  bool pending_ = false;
};

}  // namespace telemetry::worker::forward
