#include "tests/bench/bench_export/database_shell.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/storage/any/any_store.h"

namespace telemetry::bench {
namespace {

// Runs the command with its output in a file.
absl::Status RunTo(const std::string& output_path, std::vector<std::string> command) {
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

std::vector<std::string> Psql(const std::string& url, const std::string& command) {
  return {"psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", command, url};
}

}  // namespace

absl::Status RunShell(const std::string& database, const std::string& sql) {
  const bool is_postgresql = storage::any::IsPostgresqlUrl(database);
  return RunTo("/dev/null", is_postgresql ? Psql(database, sql) : std::vector<std::string>{"sqlite3", database, sql});
}

absl::Status WriteQuery(const std::string& database, const std::string& before, const std::string& query,
                        const std::string& output_path) {
  if (!storage::any::IsPostgresqlUrl(database)) {
    return RunTo(output_path, {"sqlite3", "-csv", "-header", database, before + query});
  }
  return RunTo("/dev/null",
               Psql(database, absl::StrCat("\\copy (", query, ") TO '", output_path, "' WITH (FORMAT csv, HEADER)")));
}

}  // namespace telemetry::bench
