#include "worker/forward/job_deliveries.h"

#include <optional>

namespace telemetry::worker::forward {

void JobDeliveries::NoteRead(const JobFolder& folder, const std::map<std::string, uint64_t>& bytes) {
  Job& job = jobs_[folder.path()];
  std::map<std::string, uint64_t> noted = job.noted;
  for (const auto& [name, count] : bytes) noted[name] = count;
  if (noted == job.noted) return;
  job.noted = noted;
  job.marks.push_back({progress_.appended_seq(), std::move(noted)});
  pending_ = true;
}

void JobDeliveries::NoteComplete(const JobFolder& folder) {
  Job& job = jobs_[folder.path()];
  job.complete = true;
  job.complete_seq = progress_.appended_seq();
  pending_ = true;
}

void JobDeliveries::NoteSpooled(const JobFolder& folder, uint64_t seq) {
  Job& job = jobs_[folder.path()];
  job.complete = true;
  job.spooled = true;
  job.complete_seq = seq;
  pending_ = true;
}

bool JobDeliveries::IsComplete(const std::string& path) const {
  const auto job = jobs_.find(path);
  return job != jobs_.end() && job->second.complete;
}

std::vector<std::string> JobDeliveries::Settle() {
  std::vector<std::string> removed;
  pending_ = false;
  const uint64_t committed = progress_.committed_seq();
  for (auto& [path, job] : jobs_) {
    const JobFolder folder(path);
    if (job.complete && job.complete_seq <= committed) {
      const absl::Status status = folder.Remove();
      Report(status);
      if (status.ok()) removed.push_back(path);
      continue;
    }
    Publish(folder, committed, &job);
    if (job.complete && !job.spooled && job.complete_seq <= progress_.durable_seq()) {
      job.spooled = true;
      Report(folder.WriteSpooled(job.complete_seq));
    }
    pending_ = pending_ || job.complete || !job.marks.empty();
  }
  for (const std::string& path : removed) jobs_.erase(path);
  return removed;
}

void JobDeliveries::Publish(const JobFolder& folder, uint64_t committed, Job* job) {
  std::optional<Mark> last;
  while (!job->marks.empty() && job->marks.front().seq <= committed) {
    last = std::move(job->marks.front());
    job->marks.pop_front();
  }
  if (last.has_value()) Report(folder.WriteDelivered(last->bytes));
}

void JobDeliveries::Report(const absl::Status& status) {
  if (!status.ok()) on_problem_(std::string(status.message()));
}

}  // namespace telemetry::worker::forward
