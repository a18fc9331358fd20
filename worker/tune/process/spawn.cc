#include "worker/tune/process/spawn.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "worker/tune/process/owned_fd.h"

namespace telemetry::worker::tune::process {
namespace {

// The settings that posix_spawn applies in the child before the program runs.
class SpawnPlan {
 public:
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
  }
  ~SpawnPlan() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  // Returns an errno value; 0: no error.
  int OwnGroupAndDefaultSignals() {
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    return posix_spawnattr_setflags(&attributes_,
                                    POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }

  int OnlyTheseFds(absl::Span<const int> fds) {
    const int count = static_cast<int>(fds.size());
    for (int i = 0; i < count; ++i) {
      // Duplicates to numbers above those that are assigned here, so that no descriptor is overwritten before it is
      // used.
      copies_.emplace_back(fcntl(fds[i], F_DUPFD_CLOEXEC, count));
      if (!copies_.back().is_open()) return errno;
      if (int error = posix_spawn_file_actions_adddup2(&actions_, copies_.back().get(), i); error != 0) return error;
    }
    return posix_spawn_file_actions_addclosefrom_np(&actions_, count);
  }

  int Run(const char* path, char** arguments, char** environment, pid_t* pid) {
    return posix_spawn(pid, path, &actions_, &attributes_, arguments, environment);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
  std::vector<OwnedFd> copies_;
};

// Returns the pointers that execve expects; they point into `strings`.
std::vector<char*> Pointers(std::vector<std::string>* strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings->size() + 1);
  for (std::string& text : *strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> ChildEnvironment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
  variables.push_back(absl::StrCat(kChildVariable, "=1"));
  return variables;
}

}  // namespace

absl::StatusOr<pid_t> Spawn(const std::string& path, const std::vector<std::string>& arguments,
                            absl::Span<const int> fds) {
  std::vector<std::string> own_arguments = arguments;
  std::vector<std::string> environment = ChildEnvironment();
  SpawnPlan plan;
  pid_t pid = -1;
  int error = plan.OwnGroupAndDefaultSignals();
  if (error == 0) error = plan.OnlyTheseFds(fds);
  if (error == 0) {
    error = plan.Run(path.c_str(), Pointers(&own_arguments).data(), Pointers(&environment).data(), &pid);
  }
  if (error == 0) return pid;
  return absl::UnavailableError(absl::StrCat("cannot start ", path, ": ", std::strerror(error)));
}

}  // namespace telemetry::worker::tune::process
