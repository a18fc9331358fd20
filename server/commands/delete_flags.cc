#include <unistd.h>

#include <cstdlib>
#include <string>

#include "proto/access/credential_flags.h"
#include "proto/base/usage.h"
#include "proto/record/ids.h"
#include "server/commands/command_flags.h"
#include "server/commands/flag.h"

namespace telemetry::collector {
namespace {

std::string CheckAttempt(const std::string& text) {
  constexpr size_t kDigits = 32;
  if (text.size() == kDigits && record::HexDecode(text).ok()) return "";
  return "'" + text + "' is not an attempt_id of 32 hex digits";
}

void AddNames(CLI::App* command, v1::DeleteRequest& request) {
  const auto names = [command](const std::string& flag, const std::string& help, auto add) {
    return command
        ->add_option_function<std::vector<std::string>>(
            "--" + flag,
            [add](const std::vector<std::string>& values) {
              for (const std::string& value : values) add(value);
            },
            help)
        ->take_all();
  };
  names("run", "Delete the run with this run_id, or a prefix of at least 4 digits, and all its attempts",
        [&request](const std::string& run_id) { request.add_run_ids(run_id); })
      ->check(cli::NotEmpty())
      ->type_name("ID");
  names("attempt", "Delete the attempt with this attempt_id of 32 hex digits",
        [&request](const std::string& digits) { request.add_attempt_ids(record::HexDecode(digits).value_or("")); })
      ->check(CLI::Validator(CheckAttempt, ""))
      ->type_name("ID");
  names("origin", "Delete all attempts of this origin, such as ci/1234",
        [&request](const std::string& origin) { request.add_origins(origin); })
      ->check(cli::NotEmpty())
      ->type_name("NAME");
}

// Returns the environment variable of a credential flag; empty for the certificate files, whose variables belong to
// serve.
std::string VariableOf(const std::string& flag) {
  return flag == "tls-cert" || flag == "tls-key" ? "" : EnvironmentName(flag);
}

// Reads the dataset's location from the environment unless a flag or the configuration file names it.
void TakePlaceFromEnvironment(DeleteFlags& flags) {
  if (!flags.db.empty() || !flags.collector.empty()) return;
  const auto take = [](const char* flag, std::string& value) {
    const char* const text = std::getenv(EnvironmentName(flag).c_str());
    if (text != nullptr) value = text;
  };
  take("db", flags.db);
  take("collector", flags.collector);
}

void CheckDelete(DeleteFlags& flags) {
  TakePlaceFromEnvironment(flags);
  const v1::DeleteRequest& request = flags.request;
  if (flags.db.empty() == flags.collector.empty()) {
    throw CLI::ValidationError("delete needs exactly one dataset: give --db or --collector");
  }
  if (request.run_ids_size() + request.attempt_ids_size() + request.origins_size() == 0) {
    throw CLI::RequiredError("delete needs a selection: give --run, --attempt or --origin");
  }
  if (!flags.yes && !request.dry_run() && isatty(STDIN_FILENO) == 0) {
    throw CLI::ValidationError("delete asks for confirmation, but stdin is not a terminal: give --yes or --dry-run");
  }
  if (flags.collector.empty()) return;
  const absl::Status status = access::Connection::Check(flags.credentials, flags.collector);
  if (!status.ok()) throw CLI::ValidationError(std::string(status.message()));
}

}  // namespace

void AddDelete(CLI::App& app, DeleteFlags& flags) {
  CLI::App* command = app.add_subcommand(
      "delete", "Delete the attempts that --run, --attempt and --origin select; each flag may be repeated");
  // The options have no environment variables, because CLI11 would count the variable of --db as a second dataset
  // beside the flag --collector.
  command
      ->add_option("--db", flags.db,
                   "The dataset's SQLite file, while no collector serves it, or "
                   "postgresql://USER@HOST/DATABASE")
      ->type_name("FILE")
      ->check(cli::NotEmpty());
  command->add_option("--collector", flags.collector, "Delete through the collector at this address")
      ->type_name("HOST:PORT")
      ->check(cli::NotEmpty());
  AddNames(command, flags.request);
  access::AddCredentialFlags(*command, flags.credentials, VariableOf);
  command->add_flag_callback(
      "--dry-run", [&flags] { flags.request.set_dry_run(true); },
      "Print what would be deleted; works while a collector serves the file");
  command->add_flag("--yes", flags.yes, "Do not ask for confirmation");
  command->final_callback([&flags] { CheckDelete(flags); });
}

}  // namespace telemetry::collector
