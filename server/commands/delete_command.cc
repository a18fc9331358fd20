#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/access/credential_flags.h"
#include "proto/base/status_macros.h"
#include "proto/record/counted.h"
#include "proto/record/ids.h"
#include "server/commands/commands.h"
#include "server/commands/deletion_place.h"
#include "server/dataset/deletion_log.h"

namespace telemetry::commands {
namespace {

std::string CheckAttempt(const std::string& text) {
  constexpr size_t kDigits = 32;
  if (text.size() == kDigits && record::HexDecode(text).ok()) return "";
  return "'" + text + "' is not an attempt_id of 32 hex digits";
}

void AddSelection(CLI::App& command, v1::DeleteRequest& request) {
  const auto names = [&command](const std::string& flag, const std::string& help, auto add) {
    return command
        .add_option_function<std::vector<std::string>>(
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

void PrintAttempt(const v1::DeletedAttempt& attempt) {
  const bool is_open = attempt.state() == v1::Attempt::STATE_OPEN;
  const std::string kernel = attempt.kernel_name().empty() ? "a kernel without a name" : attempt.kernel_name();
  std::printf(
      "attempt %s of %s, run %.12s..., %s, arrived %s, %s%s\n", record::HexEncode(attempt.attempt_id()).c_str(),
      kernel.c_str(), attempt.run_id().c_str(),
      attempt.origin().empty() ? "without an origin" : absl::StrCat("origin ", attempt.origin()).c_str(),
      absl::FormatTime("%Y-%m-%d", absl::FromUnixMicros(attempt.first_received_unix_us()), absl::UTCTimeZone()).c_str(),
      record::Counted(attempt.rows(), "row").c_str(), is_open ? ", still open" : "");
}

std::string CountsText(const dataset::DeletedCounts& counts) {
  return absl::StrCat(record::Counted(counts.attempts, "attempt"), " with ", record::Counted(counts.rows, "row"));
}

bool Confirm(const dataset::DeletedCounts& counts) {
  std::printf("Delete %s? Type yes: ", CountsText(counts).c_str());
  std::fflush(stdout);
  char answer[16] = {};
  return std::fgets(answer, sizeof answer, stdin) != nullptr && std::string_view(answer) == "yes\n";
}

class DeleteCommand final : public cli::Command {
 public:
  DeleteCommand()
      : Command({.name = "delete",
                 .summary = "Delete the attempts that --run, --attempt and --origin select; each flag may be repeated",
                 .examples = R"(  telemetry-collector delete --db telemetry.db --origin ci/1234 --dry-run
  telemetry-collector delete --db postgresql://telemetry@db.example/telemetry --run e0486903 --run 5b1c
  telemetry-collector delete --collector collector:4747 --tls-ca ca.pem --token-file token --origin ci/1234 --yes
)"}) {}

  void AddFlags(cli::Flags& flags) override {
    CLI::App& command = flags.command();
    flags.Add("db", db_, "The dataset's SQLite file, while no collector serves it, or postgresql://USER@HOST/DATABASE")
        ->envname("")
        ->type_name("FILE")
        ->check(cli::NotEmpty());
    db_in_environment_ = flags.FromEnvironment("db");
    flags.Add("collector", collector_, "Delete through the collector at this address")
        ->envname("")
        ->type_name("HOST:PORT")
        ->check(cli::NotEmpty());
    collector_in_environment_ = flags.FromEnvironment("collector");
    AddSelection(command, request_);
    access::AddCredentialFlags(flags, credentials_);
    // These variables belong to serve.
    for (const char* flag : {"--tls-cert", "--tls-key"}) command.get_option(flag)->envname("");
    command.add_flag_callback(
        "--dry-run", [this] { request_.set_dry_run(true); },
        "Print what would be deleted; works while a collector serves the file");
    command.add_flag("--yes", yes_, "Do not ask for confirmation");
  }

  absl::Status Check() override {
    if (db_.empty() && collector_.empty()) {
      db_ = db_in_environment_;
      collector_ = collector_in_environment_;
    }
    if (db_.empty() == collector_.empty()) {
      return absl::InvalidArgumentError("delete needs exactly one dataset: give --db or --collector");
    }
    if (request_.run_ids_size() + request_.attempt_ids_size() + request_.origins_size() == 0) {
      return absl::InvalidArgumentError("delete needs a selection: give --run, --attempt or --origin");
    }
    if (!yes_ && !request_.dry_run() && isatty(STDIN_FILENO) == 0) {
      return absl::InvalidArgumentError(
          "delete asks for confirmation, but stdin is not a terminal: give --yes or --dry-run");
    }
    return collector_.empty() ? absl::OkStatus() : access::Connection::Check(credentials_, collector_);
  }

  // Prints the attempts that the flags select, asks for confirmation, deletes them and prints their number. CANCELLED:
  // the answer was not "yes".
  absl::StatusOr<int> Run() override {
    ASSIGN_OR_RETURN(const std::unique_ptr<DeletionPlace> place,
                     collector_.empty() ? OpenDatabasePlace(db_, request_.dry_run())
                                        : ConnectToCollectorPlace(collector_, credentials_));
    v1::DeleteRequest request = request_;
    request.set_dry_run(true);
    dataset::DeletedCounts planned;
    absl::Status status = place->Delete(request, [&](const v1::DeleteStep& step) {
      for (const v1::DeletedAttempt& attempt : step.attempts()) PrintAttempt(attempt);
      planned.Add(step);
      request.set_through(step.through());
    });
    if (!status.ok()) return status;
    if (request_.dry_run()) {
      std::printf("would delete %s, and the runs that have no other attempts\n", CountsText(planned).c_str());
      return cli::kExitDone;
    }
    if (!yes_ && !Confirm(planned)) return absl::CancelledError("nothing is deleted: the answer was not yes");
    request.set_dry_run(false);
    dataset::DeletedCounts deleted;
    status = place->Delete(request, [&](const v1::DeleteStep& step) { deleted.Add(step); });
    std::printf("deleted %s, and %s that had no other attempts\n", CountsText(deleted).c_str(),
                record::Counted(deleted.runs, "run").c_str());
    if (!status.ok()) return status;
    return cli::kExitDone;
  }

 private:
  // The dataset, or the address of a collector. After Check(), exactly one of the two is set.
  std::string db_;
  std::string collector_;
  std::string db_in_environment_;
  std::string collector_in_environment_;
  access::Credentials credentials_;
  v1::DeleteRequest request_;
  bool yes_ = false;
};

}  // namespace

std::unique_ptr<cli::Command> NewDelete() { return cli::New<DeleteCommand>(); }

}  // namespace telemetry::commands
