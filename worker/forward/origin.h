#pragma once

#include <functional>
#include <string>

namespace telemetry::worker::forward {

// Returns an environment variable, or an empty string if it is not set.
using Environment = std::function<std::string(const char*)>;

// Returns a label for the CI job of this process, or an empty string outside of CI. The label is stable within a job
// and differs between jobs, retries of a job and legs of its matrix. Supported: GitHub Actions, GitLab CI, Jenkins,
// Buildkite, Azure Pipelines, CircleCI, Slurm.
std::string OriginFromEnvironment(const Environment& environment);

}  // namespace telemetry::worker::forward
