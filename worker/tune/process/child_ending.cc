#include "worker/tune/process/child_ending.h"

#include <sys/wait.h>

#include <cstring>

#include "absl/strings/str_cat.h"

namespace telemetry::worker::tune::process {

std::string ChildEnding::SignalName() const {
  if (signal == 0) return "";
  const char* name = sigabbrev_np(signal);
  return name == nullptr ? absl::StrCat("signal ", signal) : absl::StrCat("SIG", name);
}

std::string ChildEnding::Describe() const {
  if (signal == 0) return exit_status < 0 ? "ended" : absl::StrCat("exited with status ", exit_status);
  const char* meaning = sigdescr_np(signal);
  return absl::StrCat("was killed by ", SignalName(), meaning == nullptr ? "" : absl::StrCat(" (", meaning, ")"));
}

ChildEnding ChildEnding::FromWaitStatus(int wait_status) {
  if (WIFSIGNALED(wait_status)) return {.signal = WTERMSIG(wait_status)};
  return {.exit_status = WEXITSTATUS(wait_status)};
}

}  // namespace telemetry::worker::tune::process
