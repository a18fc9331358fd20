#include "worker/forward/forward.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/base/status_macros.h"
#include "worker/forward/folder_watch.h"
#include "worker/forward/sidecar_group.h"

namespace telemetry::worker::forward {
namespace {

// The groups below the paths, each with the state of its reading.
class Groups {
 public:
  Groups(const ForwardOptions& options, const RecordSink& sink) : options_(options) {
    sink_ = [this, &sink](const v1::Record& record) { return sink_status_ = sink(record); };
    ForgetDeliveries();
  }

  // Adds the groups that are new.
  void Find(bool may_come_later) {
    if (options_.start_again && options_.start_again()) {
      groups_.clear();
      ForgetDeliveries();
      is_spool_complete_ = false;
    }
    path_problems_.clear();
    for (const std::string& path : options_.paths) {
      for (SidecarFiles& files : FindSidecars(path, may_come_later, &path_problems_)) {
        if (groups_.contains(files.base) || IsSpooled(JobFolder::Of(files.base))) continue;
        std::string base = files.base;
        groups_[base] = std::make_unique<SidecarGroup>(std::move(files), options_.origin, options_.identity, sink_);
      }
    }
    // A folder of job folders is empty most of the time.
    if (options_.jobs.has_value()) path_problems_.clear();
  }

  // The job folders after ServeJobs().
  struct Jobs {
    bool any_writer = false;  // a process holds a folder
    bool any_left = false;    // a folder is not delivered
  };

  // Reads the folders of ended processes to their end, publishes the acknowledged bytes, and removes delivered folders.
  absl::StatusOr<Jobs> ServeJobs() {
    Jobs found;
    for (const JobFolder& job : JobFoldersIn(options_.paths.front())) {
      const bool has_ended = job.has_ended();
      found.any_writer = found.any_writer || !has_ended;
      if (has_ended && IsSpooled(job)) {
        if (!deliveries_->IsComplete(job.path())) deliveries_->NoteSpooled(job, *job.spooled_seq());
      } else if (has_ended && !deliveries_->IsComplete(job.path())) {
        Find(/*may_come_later=*/true);  // a file may have been created just before the end
        RETURN_IF_ERROR(FinishJob(job));
      }
      NoteRead(job);
    }
    for (const std::string& path : deliveries_->Settle()) Forget(path);
    found.any_left = !JobFoldersIn(options_.paths.front()).empty();
    return found;
  }

  // Returns true if records of job folders are not acknowledged.
  bool deliveries_pending() const { return deliveries_ != nullptr && deliveries_->pending(); }

  absl::Status FinishAll() {
    size_t done = 0;
    ForwardCounts counts;
    for (auto& [base, group] : groups_) {
      RETURN_IF_ERROR(Read(group.get(), &SidecarGroup::Finish));
      counts += group->counts();
      if (options_.on_progress) options_.on_progress(++done, groups_.size(), counts);
    }
    return absl::OkStatus();
  }

  absl::Status AdvanceAll() {
    for (auto& [base, group] : groups_) {
      RETURN_IF_ERROR(Read(group.get(), &SidecarGroup::Advance));
    }
    if (options_.on_progress) options_.on_progress(groups_.size(), groups_.size(), Result().counts);
    return absl::OkStatus();
  }

  absl::Status Advance(const std::string& base) {
    const auto group = groups_.find(base);
    if (group == groups_.end()) return absl::OkStatus();
    return Read(group->second.get(), &SidecarGroup::Advance);
  }

  ForwardResult Result() const {
    ForwardResult result;
    result.groups = removed_groups_ + groups_.size();
    result.counts = removed_counts_;
    result.problems = path_problems_;
    for (const auto& [base, group] : groups_) {
      result.counts += group->counts();
      std::string problem = FindProblem(*group);
      if (!problem.empty()) result.problems.push_back(std::move(problem));
    }
    return result;
  }

  // Reports each problem that is new since the last call. A higher number of refused rows is not reported again.
  void SayProblems() {
    std::set<std::string> present(path_problems_.begin(), path_problems_.end());
    for (const std::string& problem : path_problems_) Say(problem, problem);
    for (const auto& [base, group] : groups_) {
      const std::string problem = FindProblem(*group);
      if (problem.empty()) continue;
      present.insert(base);
      Say(base, problem);
    }
    said_ = std::move(present);
  }

 private:
  // Returns true if the spool contains all records of a job folder.
  bool IsSpooled(const JobFolder& job) const {
    if (!options_.jobs.has_value() || !is_spool_complete_) return false;
    const std::optional<uint64_t> seq = job.spooled_seq();
    // A higher number is from a spool that no longer exists.
    return seq.has_value() && *seq <= options_.jobs->progress.appended_seq();
  }

  void ForgetDeliveries() {
    if (!options_.jobs.has_value()) return;
    deliveries_ = std::make_unique<JobDeliveries>(options_.jobs->progress, [this](const std::string& problem) {
      if (options_.on_problem) options_.on_problem(problem);
    });
  }

  // Calls `visit` for each group of a job folder.
  void VisitGroups(const JobFolder& job, const std::function<void(SidecarGroup*)>& visit) {
    const std::string below = job.path() + "/";
    for (auto group = groups_.lower_bound(below); group != groups_.end() && group->first.starts_with(below); ++group) {
      visit(group->second.get());
    }
  }

  absl::Status FinishJob(const JobFolder& job) {
    absl::Status status;
    bool complete = true;
    VisitGroups(job, [&](SidecarGroup* group) {
      if (status.ok()) status = Read(group, &SidecarGroup::Finish);
      complete = complete && !unreadable_.contains(group->files().base);
    });
    if (status.ok() && complete) deliveries_->NoteComplete(job);
    return status;
  }

  void NoteRead(const JobFolder& job) {
    std::map<std::string, uint64_t> bytes;
    VisitGroups(job, [&bytes](SidecarGroup* group) { bytes.merge(group->bytes_read()); });
    deliveries_->NoteRead(job, bytes);
  }

  // Forgets the groups of a removed job folder, but not their counts.
  void Forget(const std::string& path) {
    std::vector<std::string> bases;
    VisitGroups(JobFolder(path), [&](SidecarGroup* group) {
      removed_counts_ += group->counts();
      bases.push_back(group->files().base);
    });
    removed_groups_ += bases.size();
    for (const std::string& base : bases) groups_.erase(base);
  }

  std::string FindProblem(const SidecarGroup& group) const {
    const auto problem = unreadable_.find(group.files().base);
    return problem == unreadable_.end() ? group.refusal() : problem->second;
  }

  void Say(const std::string& what, const std::string& problem) const {
    if (options_.on_problem && !said_.contains(what)) options_.on_problem(problem);
  }

  // Reads a group. An unreadable file affects only its group; an error of the sink affects all.
  absl::Status Read(SidecarGroup* group, absl::Status (SidecarGroup::*read)()) {
    sink_status_ = absl::OkStatus();
    absl::Status status = (group->*read)();
    if (status.ok()) {
      unreadable_.erase(group->files().base);
    } else if (sink_status_.ok()) {
      unreadable_[group->files().base] = std::string(status.message());
    }
    return sink_status_;
  }

  const ForwardOptions& options_;
  RecordSink sink_;
  absl::Status sink_status_;
  std::map<std::string, std::unique_ptr<SidecarGroup>> groups_;  // by base
  std::map<std::string, std::string> unreadable_;                // error message by base
  std::vector<std::string> path_problems_;
  std::unique_ptr<JobDeliveries> deliveries_;  // only if options_.jobs is set
  bool is_spool_complete_ = true;  // false: the collector has another dataset, which needs all records again
  size_t removed_groups_ = 0;
  ForwardCounts removed_counts_;
  std::set<std::string> said_;  // reported path problems, and bases of groups with a reported problem
};

// The times of a watch.
class JobClock {
 public:
  explicit JobClock(const ForwardOptions& options) : options_(options) {}

  // A process has written to a file or ended.
  void NoteChange() { changed_ = absl::Now(); }
  void NoteWriter() { writer_ = absl::Now(); }

  // Returns the longest time until the next check.
  absl::Duration NextWait(bool pending) const {
    if (!options_.jobs.has_value()) return options_.rescan_interval;
    // No event reports an acknowledgement, nor that a process released its lock.
    if (absl::Now() - changed_ < kSettling) return std::min(kPoll, options_.rescan_interval);
    if (pending) return std::min(kSlowPoll, options_.rescan_interval);  // the collector may be down for long
    return std::min(options_.rescan_interval, options_.jobs->idle_limit);
  }

  // Returns whether the wait that ended with `changes` is followed by a check of all files.
  bool IsRescan(const FolderWatch::Changes& changes) {
    if (!options_.jobs.has_value()) return changes.all;
    const bool timed_out = changes.all && changes.paths.empty();
    if (!changes.all || (timed_out && absl::Now() - rescanned_ < options_.rescan_interval)) return false;
    rescanned_ = absl::Now();
    return true;
  }

  bool IsIdle() const { return absl::Now() - std::max(changed_, writer_) >= options_.jobs->idle_limit; }
  bool IsOverdue() const { return absl::Now() - writer_ >= options_.jobs->delivery_limit; }

 private:
  static constexpr absl::Duration kPoll = absl::Milliseconds(30);
  static constexpr absl::Duration kSlowPoll = absl::Milliseconds(250);
  static constexpr absl::Duration kSettling = absl::Seconds(1);

  const ForwardOptions& options_;
  absl::Time changed_ = absl::Now();
  absl::Time writer_ = absl::Now();
  absl::Time rescanned_ = absl::InfinitePast();
};

// Serves the job folders; returns true if a limit of JobOptions ends the watch.
absl::StatusOr<bool> ServeJobs(const ForwardOptions& options, JobClock& clock, Groups& groups) {
  ASSIGN_OR_RETURN(const Groups::Jobs jobs, groups.ServeJobs());
  if (jobs.any_writer) clock.NoteWriter();
  if (jobs.any_left) return !jobs.any_writer && clock.IsOverdue();
  if (!clock.IsIdle()) return false;
  StartLock& lock = *options.jobs->start_lock;
  RETURN_IF_ERROR(lock.Acquire());
  if (JobFoldersIn(options.paths.front()).empty()) return true;
  lock.Release();  // a process began meanwhile
  return false;
}

// Watches each path: a folder with all folders below it, or the folder of a base path. Called repeatedly, because
// either may be created later.
absl::Status WatchPaths(const std::vector<std::string>& paths, FolderWatch* watch) {
  for (const std::string& path : paths) {
    std::error_code ignored;
    const bool is_folder = std::filesystem::is_directory(path, ignored);
    const std::filesystem::path parent = std::filesystem::path(path).parent_path();
    const std::string folder = is_folder ? path : parent.empty() ? "." : parent.string();
    RETURN_IF_ERROR(watch->Add(folder, is_folder));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ForwardResult> ForwardOnce(const ForwardOptions& options, const RecordSink& sink) {
  Groups groups(options, sink);
  groups.Find(/*may_come_later=*/false);
  groups.SayProblems();
  RETURN_IF_ERROR(groups.FinishAll());
  groups.SayProblems();
  return groups.Result();
}

absl::StatusOr<ForwardResult> ForwardAndWatch(const ForwardOptions& options, int stop_fd, const RecordSink& sink) {
  absl::StatusOr<std::unique_ptr<FolderWatch>> created = FolderWatch::Create(stop_fd);
  // Nobody reads the messages of a forwarder of job folders, so it goes on without inotify.
  if (!created.ok() && !options.jobs.has_value()) return created.status();
  std::unique_ptr<FolderWatch> watch = created.ok() ? *std::move(created) : FolderWatch::CreatePolling(stop_fd);
  Groups groups(options, sink);
  JobClock clock(options);
  FolderWatch::Changes changes{.paths = {}, .all = true, .stop = false};
  while (true) {
    std::set<std::string> bases;
    for (const std::string& path : changes.paths) {
      const std::string base = GroupOfSidecar(path).base;
      if (!base.empty()) bases.insert(base);
    }
    if (changes.all) {
      const absl::Status watched = WatchPaths(options.paths, watch.get());
      if (!watched.ok() && !options.jobs.has_value()) return watched;
    }
    if (changes.all || !bases.empty()) groups.Find(/*may_come_later=*/true);
    absl::Status status;
    if (changes.stop) {
      status = groups.FinishAll();
    } else if (changes.all) {
      status = groups.AdvanceAll();
    } else {
      for (const std::string& base : bases) {
        if (status.ok()) status = groups.Advance(base);
      }
    }
    if (!status.ok()) return status;
    groups.SayProblems();
    if (options.jobs.has_value()) {
      if (!changes.paths.empty()) clock.NoteChange();
      ASSIGN_OR_RETURN(bool ends, ServeJobs(options, clock, groups));
      if (ends) break;
    }
    // Checks for the stop last, because the code above reads everything that was written before the stop.
    if (changes.stop) break;
    ASSIGN_OR_RETURN(changes, watch->Wait(clock.NextWait(groups.deliveries_pending())));
    changes.all = clock.IsRescan(changes) || changes.stop;
  }
  return groups.Result();
}

}  // namespace telemetry::worker::forward
