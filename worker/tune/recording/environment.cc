#include "worker/tune/recording/environment.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"
#include "proto/record/strings.h"

namespace telemetry::worker::tune::recording {
namespace {

using record::Json;

// Variables that identify the job for a person or a query. None of them is secret.
constexpr const char* kCiVariables[] = {
    "GITHUB_REPOSITORY",
    "GITHUB_WORKFLOW",
    "GITHUB_JOB",
    "GITHUB_RUN_ID",
    "GITHUB_RUN_ATTEMPT",
    "GITHUB_REF",
    "GITHUB_SHA",
    "RUNNER_NAME",
    "CI_PROJECT_PATH",
    "CI_PIPELINE_ID",
    "CI_JOB_ID",
    "CI_JOB_NAME",
    "CI_COMMIT_SHA",
    "CI_RUNNER_ID",
    "BUILDKITE_PIPELINE_SLUG",
    "BUILDKITE_BUILD_NUMBER",
    "BUILDKITE_JOB_ID",
    "BUILDKITE_COMMIT",
    "JOB_NAME",
    "BUILD_NUMBER",
    "NODE_NAME",
    "BUILD_BUILDID",
    "SYSTEM_JOBID",
    "SYSTEM_JOBATTEMPT",
    "CIRCLE_PROJECT_REPONAME",
    "CIRCLE_WORKFLOW_JOB_ID",
    "CIRCLE_NODE_INDEX",
    "SLURM_CLUSTER_NAME",
    "SLURM_JOB_ID",
    "SLURM_ARRAY_TASK_ID",
    "SLURM_PROCID",
};

Json TextOrNull(std::string text) { return text.empty() ? Json::Null() : Json::String(std::move(text)); }

// Returns the text after `separator` in the first line whose key is `key`, without quotes.
std::string ValueIn(const char* path, std::string_view key, char separator) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    const size_t end = line.find(separator);
    if (end == std::string::npos || std::string(absl::StripAsciiWhitespace(line.substr(0, end))) != key) continue;
    std::string value(absl::StripAsciiWhitespace(line.substr(end + 1)));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    return value;
  }
  return "";
}

std::string CpuName() {
  // On ARM the kernel provides no name.
  return ValueIn("/proc/cpuinfo", "model name", ':');
}

int UsableCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

Json CiJson(const Variables& variables) {
  Json ci = Json::Object();
  for (const char* name : kCiVariables) {
    if (std::string value = variables(name); !value.empty()) ci.members.emplace_back(name, Json::String(value));
  }
  return ci.members.empty() ? Json::Null() : ci;
}

}  // namespace

std::string ProcessVariable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Json Environment(Json device, const Variables& variables) {
  utsname system = {};
  const bool known = uname(&system) == 0;
  const int cpus = UsableCpus();
  Json json = Json::Object();
  const auto add = [&json](const char* key, Json value) { json.members.emplace_back(key, std::move(value)); };
  add("program", Json::String("telemetry-worker " TELEMETRY_VERSION));
  add("host", known ? TextOrNull(system.nodename) : Json::Null());
  add("os", TextOrNull(ValueIn("/etc/os-release", "PRETTY_NAME", '=')));
  add("kernel",
      known ? Json::String(record::Cat(system.sysname, " ", system.release, " ", system.machine)) : Json::Null());
  add("cpu", TextOrNull(CpuName()));
  add("cpus", cpus > 0 ? Json::Integer(cpus) : Json::Null());
  add("ci", CiJson(variables));
  add("device", std::move(device));
  return json;
}

}  // namespace telemetry::worker::tune::recording
