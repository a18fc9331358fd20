#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/base/cli/flags.h"
#include "proto/base/cli/log_flags.h"
#include "server/access/port_flags.h"
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
  // HOST:PORT of the pages, which telemetry-web serves as a child process. Empty: no pages.
  std::string web_listen;
  // Names under which browsers reach the pages, beside their address.
  std::vector<std::string> web_names;
  access::PortSecurity security;
  cli::LogFlags log;
  // The retention rules.
  storage::PruneRules keep = {.keep_rejects_bytes = kKeepRejectsBytes};
  call::Limits limits = {.memory_bytes = uint64_t{160} << 20};

  void AddTo(cli::Flags& flags);
  // Returns an error with the reason why serve must refuse these flags.
  absl::Status Check() const;
  // Returns the command that serves the pages. `collector`: HOST:PORT of this collector.
  std::vector<std::string> WebCommand(const std::string& collector) const;
};

}  // namespace telemetry::commands
