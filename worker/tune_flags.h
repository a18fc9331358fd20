#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/access/credentials.h"
#include "proto/base/cli/flags.h"
#include "worker/debug_flags.h"
#include "worker/runtime/settings.h"
#include "worker/tune/tune_session.h"

namespace telemetry::worker {

// The flags that `tune` and `run` share: the destination of the data and the size of the search.
struct TuneFlags {
  std::string collector;
  access::Credentials credentials;
  std::string state_dir;
  std::string origin;
  std::string log;
  std::string drain_timeout = "10m";
  uint64_t spool_limit_mib = 4096;

  std::string effort = "quick";
  std::string algorithm;
  uint64_t seed = 0;
  std::optional<int> max_generations;
  std::optional<int> max_configs;
  std::string budget;  // a duration; empty: no limit
  int compilers = 0;
  std::string compile_limit = "1m";
  uint64_t compile_memory_bytes = tune::TunerOptions().processes.compile.memory_limit_bytes;
  std::string run_limit = "5s";
  std::optional<int> samples;  // of each config; unset: as many as its time needs
  bool warm_caches = false;
  std::vector<std::string> settings;
  bool no_known = false;
  std::string model;
  bool search = false;
  std::string wait = "30m";  // a duration; "0": take no lease
  DebugFlags debug;

  void AddTo(cli::Flags& flags);
};

// Convert the flags. Return INVALID_ARGUMENT, with the flag's name, if a value is invalid. OpenSession also returns the
// errors of access::Connection::Check and TuneSession::Open.
absl::StatusOr<tune::TunerOptions> ParseTunerOptions(const TuneFlags& flags);
absl::StatusOr<runtime::Settings> ParseSettings(const std::vector<std::string>& settings);
absl::StatusOr<std::unique_ptr<tune::TuneSession>> OpenSession(const TuneFlags& flags);

// Waits at most `patience` until the collector has acknowledged every record. Logs an error and returns false if it has
// not.
bool DeliverAll(tune::TuneSession& session, const TuneFlags& flags, absl::Duration patience);

// Returns the text that `tune` prints at the end: "softmax [(4096, 2560)] ['torch.float16'] on NVIDIA H200: best
// 0.0154 ms, 2.10 times as fast as the default config; 200 configs in 61.3 s", then a line with the config.
std::string Describe(const tune::TaskResult& result);

}  // namespace telemetry::worker
