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

struct PruneFlags {
  storage::PruneRules rules;
  bool trust_clock = false;
  bool dry_run = false;
};

struct DeleteFlags {
  // The dataset or a collector's address; the other one is empty.
  std::string db;
  std::string collector;
  access::Credentials credentials;
  v1::DeleteRequest request;
  bool yes = false;
};

// What the command line, the environment and the configuration file ask for.
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
  // Where the metrics are; empty: nowhere.
  std::string metrics_listen;
  // Others may reach the port though it is not both encrypted and asking for tokens.
  bool insecure_beyond_loopback = false;
  Limits limits = {.memory_bytes = uint64_t{192} << 20};
  // The rules of serve for a SQLite file.
  storage::PruneRules keep = {.keep_rejects_bytes = kKeepRejectsBytes};
  TokenFlags token;
  TlsInitFlags tls_init;
  PruneFlags prune;
  DeleteFlags deletion;
};

// Returns the rules by which serve removes; for a PostgreSQL server an empty set.
storage::PruneRules RulesOf(const CommandLine& line);

// Reads them. An exit status instead of a command, when there is nothing (more) to do: 0 after --help and --version, 2
// after a wrong usage; what there is to say is printed.
struct ParsedCommandLine {
  bool run = false;
  int exit_status = 0;
  CommandLine line;
};
ParsedCommandLine ParseCommandLine(int argc, const char* const* argv);

}  // namespace telemetry::collector
