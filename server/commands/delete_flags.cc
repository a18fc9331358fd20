#include <unistd.h>

#include <cstdlib>
#include <string>

#include "proto/access/credential_flags.h"
#include "proto/cli/usage.h"
#include "proto/record/ids.h"
#include "server/commands/command_flags.h"
#include "server/commands/flag.h"

namespace telemetry::collector {
namespace {

std::string CheckAttempt(const std::string& text) {
  constexpr size_t kDigits = 32;
  if (text.size() == kDigits && record::HexDecode(text).ok()) return "";
  return "'" + text + "' is no attempt_id: 32 hex digits";
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
  names("run", "Delete all attempts of the run with this run_id, or a prefix of at least 4 digits, and the run",
        [&request](const std::string& run_id) { request.add_run_ids(run_id); })
      ->check(cli::NotEmpty())
      ->type_name("ID");
  names("attempt", "Delete the attempt with this attempt_id, 32 hex digits",
        [&request](const std::string& digits) { request.add_attempt_ids(record::HexDecode(digits).value_or("")); })
      ->check(CLI::Validator(CheckAttempt, ""))
      ->type_name("ID");
  names("origin", "Delete all attempts of this origin, as ci/1234",
        [&request](const std::string& origin) { request.add_origins(origin); })
      ->check(cli::NotEmpty())
      ->type_name("NAME");
}

// The variables of the certificate's files are those of serve.
std::string VariableOf(const std::string& flag) {
  return flag == "tls-cert" || flag == "tls-key" ? "" : EnvironmentName(flag);
}

// Takes the dataset's place from the environment, unless a flag or the configuration file names it.
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
    throw CLI::ValidationError("delete wants one dataset: --db or --collector");
  }
  if (request.run_ids_size() + request.attempt_ids_size() + request.origins_size() == 0) {
    throw CLI::RequiredError("delete wants to know what: --run, --attempt or --origin");
  }
  if (!flags.yes && !request.dry_run() && isatty(STDIN_FILENO) == 0) {
    throw CLI::ValidationError("delete asks before it deletes, and there is no terminal: give --yes, or --dry-run");
  }
  if (flags.collector.empty()) return;
  const absl::Status status = access::Connection::Check(flags.credentials, flags.collector);
  if (!status.ok()) throw CLI::ValidationError(std::string(status.message()));
}

}  // namespace

void AddDelete(CLI::App& app, DeleteFlags& flags) {
  CLI::App* command = app.add_subcommand(
      "delete", "Delete what any of --run, --attempt and --origin names, each of which may be given several times");
  // Without variables: to CLI11 the one of --db were a second dataset beside the flag --collector.
  command
      ->add_option("--db", flags.db,
                   "The dataset's SQLite file, which no collector may serve, or "
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
      "Print what would be deleted, also while a collector serves the file");
  command->add_flag("--yes", flags.yes, "Do not ask");
  command->final_callback([&flags] { CheckDelete(flags); });
}

}  // namespace telemetry::collector
