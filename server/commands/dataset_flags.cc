#include "server/commands/dataset_flags.h"

#include "absl/strings/str_cat.h"
#include "server/storage/any/any_store.h"

namespace telemetry::commands {
namespace {

constexpr char kFilesOnly[] = "works on SQLite files only; for PostgreSQL use its own tools, such as pg_basebackup";

}  // namespace

void AddSqliteFile(cli::Flags& flags, const std::string& name, std::string& value, const std::string& help) {
  const auto check = [](const std::string& db) {
    return std::string(storage::any::IsPostgresqlUrl(db) ? kFilesOnly : "");
  };
  flags.File(name, value, help)->check(CLI::Validator(check, ""));
}

absl::Status CheckSqliteFile(const std::string& db) {
  return storage::any::IsPostgresqlUrl(db) ? absl::InvalidArgumentError(absl::StrCat("--db: ", kFilesOnly))
                                           : absl::OkStatus();
}

}  // namespace telemetry::commands
