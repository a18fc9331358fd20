#include "tests/bench/bench_export/database_shell.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "server/storage/any/any_store.h"
#include "tests/bench/child_program.h"

namespace telemetry::bench {
namespace {

std::vector<std::string> Psql(const std::string& url, const std::string& command) {
  return {"psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", command, url};
}

}  // namespace

absl::Status RunShell(const std::string& database, const std::string& sql) {
  const bool is_postgresql = storage::any::IsPostgresqlUrl(database);
  return RunProgram("/dev/null",
                    is_postgresql ? Psql(database, sql) : std::vector<std::string>{"sqlite3", database, sql});
}

absl::Status WriteQuery(const std::string& database, const std::string& before, const std::string& query,
                        const std::string& output_path) {
  if (!storage::any::IsPostgresqlUrl(database)) {
    return RunProgram(output_path, {"sqlite3", "-csv", "-header", database, before + query});
  }
  return RunProgram("/dev/null", Psql(database, absl::StrCat("\\copy (", query, ") TO '", output_path,
                                                             "' WITH (FORMAT csv, HEADER)")));
}

}  // namespace telemetry::bench
