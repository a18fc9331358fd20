#pragma once

#include <functional>
#include <string>

namespace telemetry::forward {

// Reads an environment variable; empty where it is not set.
using Environment = std::function<std::string(const char*)>;

// A label for the CI job that this process runs in, stable for the job and different for each job, each try of it and
// each leg of its matrix; empty outside of CI. Known: GitHub Actions, GitLab CI, Jenkins, Buildkite, Azure Pipelines,
// CircleCI, Slurm.
std::string OriginFromEnvironment(const Environment& environment);

}  // namespace telemetry::forward
