#include "tests/bench/bench_export/sqlite_shell.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "absl/strings/str_cat.h"

namespace telemetry::bench {
namespace {

absl::Status Failed(const std::string& why) { return absl::FailedPreconditionError(absl::StrCat("sqlite3: ", why)); }

}  // namespace

absl::Status RunSqliteShell(const std::string& database, const std::string& sql, const std::string& output_path) {
  const char* const arguments[] = {"sqlite3", "-csv", "-header", database.c_str(), sql.c_str(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  pid_t pid = 0;
  const int error =
      posix_spawnp(&pid, "sqlite3", &actions, nullptr, const_cast<char* const*>(arguments), environ);  // not written to
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return Failed(absl::StrCat(std::strerror(error), " (install the package sqlite3)"));
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) return Failed("it cannot be waited for");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return Failed(absl::StrCat("it ended with status ", status));
  return absl::OkStatus();
}

}  // namespace telemetry::bench
