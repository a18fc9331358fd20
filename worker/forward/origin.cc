#include "worker/forward/origin.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace telemetry::worker::forward {
namespace {

struct CiSystem {
  const char* label;
  const char* present;                 // variable that every job of this system has
  std::vector<const char*> variables;  // variables that identify a job
};

const std::vector<CiSystem>& CiSystems() {
  // GitHub has no variable for a matrix leg. The runner's name distinguishes legs that run at the same time. A check
  // run id distinguishes them exactly, if the workflow exports it.
  static const auto& systems = *new std::vector<CiSystem>{
      {"github",
       "GITHUB_RUN_ID",
       {"GITHUB_REPOSITORY", "GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT", "GITHUB_JOB", "RUNNER_NAME",
        "GITHUB_CHECK_RUN_ID"}},
      {"gitlab", "CI_JOB_ID", {"CI_PROJECT_PATH", "CI_JOB_ID"}},
      {"buildkite", "BUILDKITE_JOB_ID", {"BUILDKITE_PIPELINE_SLUG", "BUILDKITE_JOB_ID", "BUILDKITE_RETRY_COUNT"}},
      {"jenkins", "JENKINS_URL", {"JOB_NAME", "BUILD_NUMBER", "STAGE_NAME", "EXECUTOR_NUMBER", "NODE_NAME"}},
      {"azure", "BUILD_BUILDID", {"BUILD_BUILDID", "SYSTEM_JOBID", "SYSTEM_JOBATTEMPT"}},
      {"circleci",
       "CIRCLE_WORKFLOW_JOB_ID",
       {"CIRCLE_PROJECT_REPONAME", "CIRCLE_WORKFLOW_JOB_ID", "CIRCLE_NODE_INDEX"}},
      {"slurm", "SLURM_JOB_ID", {"SLURM_CLUSTER_NAME", "SLURM_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_PROCID"}},
  };
  return systems;
}

}  // namespace

std::string OriginFromEnvironment(const Environment& environment) {
  for (const CiSystem& system : CiSystems()) {
    if (environment(system.present).empty()) continue;
    std::vector<std::string> parts;
    for (const char* variable : system.variables) {
      std::string value = environment(variable);
      if (!value.empty()) parts.push_back(std::move(value));
    }
    return absl::StrCat(system.label, ":", absl::StrJoin(parts, "/"));
  }
  return "";
}

}  // namespace telemetry::worker::forward
