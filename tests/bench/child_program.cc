#include "tests/bench/child_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "absl/strings/str_cat.h"

namespace telemetry::bench {

absl::Status RunProgram(const std::string& output_path, std::vector<std::string> command) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  const auto failed = [&command](const std::string& why) {
    return absl::FailedPreconditionError(absl::StrCat(command[0], ": ", why));
  };
  if (error != 0) return failed(absl::StrCat(std::strerror(error), " (install the package of ", command[0], ")"));
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) return failed("it cannot be waited for");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return failed(absl::StrCat("it ended with status ", status));
  return absl::OkStatus();
}

}  // namespace telemetry::bench
