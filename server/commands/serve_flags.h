#pragma once

#include <string>

#include "absl/status/status.h"
#include "proto/base/cli/flags.h"
#include "server/access/server_credentials.h"
#include "server/call/limits.h"
#include "server/storage/prune_rules.h"

namespace telemetry::commands {

// The default of --keep-rejects-bytes for serve.
inline constexpr int64_t kKeepRejectsBytes = int64_t{64} << 20;

// The flags of `serve`.
struct ServeFlags {
  std::string db;
  bool validate = false;
  std::string listen = "127.0.0.1:4747";
  // HOST:PORT of the metrics. Empty: no metrics.
  std::string metrics_listen;
  access::TlsFiles tls;
  std::string tokens;
  // Allows other machines to reach a port that lacks TLS, tokens or both.
  bool insecure_beyond_loopback = false;
  std::string log_level = "info";
  std::string log_format = "text";
  // The retention rules.
  storage::PruneRules keep = {.keep_rejects_bytes = kKeepRejectsBytes};
  call::Limits limits = {.memory_bytes = uint64_t{192} << 20};

  void AddTo(cli::Flags& flags);
  // Returns an error with the reason why serve must refuse these flags.
  absl::Status Check() const;
};

}  // namespace telemetry::commands
