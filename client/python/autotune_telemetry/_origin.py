"""The label of the CI job, by the rules of `telemetry-worker forward --origin`."""

from __future__ import annotations

import os
from collections.abc import Mapping

# Label of the CI system, the variable that each of its jobs has, and the variables that identify a job. The table equals
# that of worker/forward/origin.cc.
_CI_SYSTEMS = (
    (
        "github",
        "GITHUB_RUN_ID",
        (
            "GITHUB_REPOSITORY",
            "GITHUB_RUN_ID",
            "GITHUB_RUN_ATTEMPT",
            "GITHUB_JOB",
            "RUNNER_NAME",
            "GITHUB_CHECK_RUN_ID",
        ),
    ),
    ("gitlab", "CI_JOB_ID", ("CI_PROJECT_PATH", "CI_JOB_ID")),
    ("buildkite", "BUILDKITE_JOB_ID", ("BUILDKITE_PIPELINE_SLUG", "BUILDKITE_JOB_ID", "BUILDKITE_RETRY_COUNT")),
    ("jenkins", "JENKINS_URL", ("JOB_NAME", "BUILD_NUMBER", "STAGE_NAME", "EXECUTOR_NUMBER", "NODE_NAME")),
    ("azure", "BUILD_BUILDID", ("BUILD_BUILDID", "SYSTEM_JOBID", "SYSTEM_JOBATTEMPT")),
    ("circleci", "CIRCLE_WORKFLOW_JOB_ID", ("CIRCLE_PROJECT_REPONAME", "CIRCLE_WORKFLOW_JOB_ID", "CIRCLE_NODE_INDEX")),
    ("slurm", "SLURM_JOB_ID", ("SLURM_CLUSTER_NAME", "SLURM_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_PROCID")),
)


def origin_from_environment(environment: Mapping[str, str] | None = None) -> str:
    """Returns the label of the CI job of this process. Empty: no CI job."""
    variables = os.environ if environment is None else environment
    for label, present, names in _CI_SYSTEMS:
        if variables.get(present):
            return f"{label}:" + "/".join(variables[name] for name in names if variables.get(name))
    return ""
