#include "worker/forward/forward.h"

#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "worker/forward/folder_watch.h"

namespace telemetry::worker::forward {
namespace {

// The groups below the paths, each with the state of its reading.
class Groups {
 public:
  Groups(const ForwardOptions& options, const RecordSink& sink) : options_(options) {
    sink_ = [this, &sink](const v1::Record& record) { return sink_status_ = sink(record); };
  }

  // Adds the groups that are new.
  void Find(bool may_come_later) {
    if (options_.start_again && options_.start_again()) groups_.clear();
    path_problems_.clear();
    for (const std::string& path : options_.paths) {
      for (SidecarFiles& files : FindSidecars(path, may_come_later, &path_problems_)) {
        if (groups_.contains(files.base)) continue;
        std::string base = files.base;
        groups_[base] = std::make_unique<GroupForwarder>(std::move(files), options_.origin, options_.identity, sink_);
      }
    }
  }

  absl::Status FinishAll() {
    size_t done = 0;
    ForwardCounts counts;
    for (auto& [base, group] : groups_) {
      RETURN_IF_ERROR(Read(group.get(), &GroupForwarder::Finish));
      counts += group->counts();
      if (options_.on_progress) options_.on_progress(++done, groups_.size(), counts);
    }
    return absl::OkStatus();
  }

  absl::Status AdvanceAll() {
    for (auto& [base, group] : groups_) {
      RETURN_IF_ERROR(Read(group.get(), &GroupForwarder::Advance));
    }
    if (options_.on_progress) options_.on_progress(groups_.size(), groups_.size(), Result().counts);
    return absl::OkStatus();
  }

  absl::Status Advance(const std::string& base) {
    const auto group = groups_.find(base);
    if (group == groups_.end()) return absl::OkStatus();
    return Read(group->second.get(), &GroupForwarder::Advance);
  }

  ForwardResult Result() const {
    ForwardResult result;
    result.groups = groups_.size();
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
  std::string FindProblem(const GroupForwarder& group) const {
    const auto problem = unreadable_.find(group.files().base);
    return problem == unreadable_.end() ? group.refusal() : problem->second;
  }

  void Say(const std::string& what, const std::string& problem) const {
    if (options_.on_problem && !said_.contains(what)) options_.on_problem(problem);
  }

  // Reads a group. An unreadable file affects only its group; an error of the sink affects all.
  absl::Status Read(GroupForwarder* group, absl::Status (GroupForwarder::*read)()) {
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
  std::map<std::string, std::unique_ptr<GroupForwarder>> groups_;  // by base
  std::map<std::string, std::string> unreadable_;                  // error message by base
  std::vector<std::string> path_problems_;
  std::set<std::string> said_;  // reported path problems, and bases of groups with a reported problem
};

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
  ASSIGN_OR_RETURN(std::unique_ptr<FolderWatch> watch, FolderWatch::Create(stop_fd));
  Groups groups(options, sink);
  FolderWatch::Changes changes{.paths = {}, .all = true, .stop = false};
  while (true) {
    std::set<std::string> bases;
    for (const std::string& path : changes.paths) {
      const std::string base = GroupOfSidecar(path).base;
      if (!base.empty()) bases.insert(base);
    }
    if (changes.all) {
      RETURN_IF_ERROR(WatchPaths(options.paths, watch.get()));
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
    // Checks for the stop last, because the code above reads everything that was written before the stop.
    if (changes.stop) break;
    ASSIGN_OR_RETURN(FolderWatch::Changes next, watch->Wait(options.rescan_interval));
    changes = std::move(next);
    changes.all = changes.all || changes.stop;
  }
  return groups.Result();
}

}  // namespace telemetry::worker::forward
