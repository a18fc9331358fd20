#pragma once

#include <string>

#include "proto/access/credentials.h"
#include "server/access/server_credentials.h"
#include "server/call/limits.h"
#include "server/commands/tls_commands.h"
#include "server/commands/token_commands.h"
#include "server/storage/prune_rules.h"
#include "telemetry/v1/deletion.pb.h"

namespace telemetry::collector {

// A subcommand of telemetry-collector.
enum class Command {
  kServe,
  kCheck,
  kBackup,
  kRestore,
  kCopy,
  kMigrate,
  kPrune,
  kDelete,
  kStats,
  kTokenAdd,
  kTokenList,
  kTokenRevoke,
  kTlsInit
};

// The default of --keep-rejects-bytes for serve.
inline constexpr int64_t kKeepRejectsBytes = int64_t{64} << 20;

// The flags of the prune command.
struct PruneFlags {
  storage::PruneRules rules;
  bool trust_clock = false;
  bool dry_run = false;
};

// The flags of the delete command.
struct DeleteFlags {
  // The dataset, or the address of a collector. Exactly one of the two is set.
  std::string db;
  std::string collector;
  access::Credentials credentials;
  v1::DeleteRequest request;
  bool yes = false;
};

// The options given on the command line, in the environment and in the configuration file.
struct CommandLine {
  Command command = Command::kServe;
  std::string db;
  std::string listen = "127.0.0.1:4747";
  std::string to;
  std::string from;
  std::string log_level = "info";
  std::string log_format = "text";
  bool validate = false;
  bool json = false;
  bool identities = false;
  bool reseal = false;
  access::TlsFiles tls;
  std::string tokens;
  // HOST:PORT of the metrics. Empty: no metrics.
  std::string metrics_listen;
  // Allows other machines to reach a port that lacks TLS, tokens or both.
  bool insecure_beyond_loopback = false;
  Limits limits = {.memory_bytes = uint64_t{192} << 20};
  // The retention rules of serve for a SQLite file.
  storage::PruneRules keep = {.keep_rejects_bytes = kKeepRejectsBytes};
  TokenFlags token;
  TlsInitFlags tls_init;
  PruneFlags prune;
  DeleteFlags deletion;
};

// Returns the rules by which serve removes old data; the empty set for a PostgreSQL database.
storage::PruneRules RulesOf(const CommandLine& line);

// The result of parsing. If `run` is false, there is no command to run and the program exits with `exit_status`: 0
// after --help and --version, 2 after wrong usage. The text for the user has been printed.
struct ParsedCommandLine {
  bool run = false;
  int exit_status = 0;
  CommandLine line;
};
ParsedCommandLine ParseCommandLine(int argc, const char* const* argv);

}  // namespace telemetry::collector
