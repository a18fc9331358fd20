#pragma once

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/access/credentials.h"
#include "worker/kernel/settings.h"
#include "worker/tune/tune_session.h"

namespace telemetry {

// The flags that `tune` and `run` have in common: where data go, and how much is tried.
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
  std::string budget;  // empty: none
  int compilers = 0;
  std::string compile_limit = "1m";
  std::string run_limit = "5s";
  std::vector<std::string> settings;
  bool no_known = false;
  int debug_values = 0;
  std::string debug_kernels;
  std::string debug_dir;
};

void AddTuneFlags(CLI::App* command, TuneFlags* flags);

// INVALID_ARGUMENT names the flag.
absl::StatusOr<worker::tune::TunerOptions> TunerOptionsOf(const TuneFlags& flags);
absl::StatusOr<worker::Settings> SettingsOf(const TuneFlags& flags);
absl::StatusOr<std::unique_ptr<worker::tune::TuneSession>> OpenSession(const TuneFlags& flags);

// Set by SIGTERM and SIGINT from this call on; a second signal ends the program.
const std::atomic<bool>* StopOnSignals();

// Waits for the collector. False: it does not have everything, which was said.
bool DeliverAll(worker::tune::TuneSession& session, const TuneFlags& flags, absl::Duration patience);

// "softmax [(4096, 2560)] on NVIDIA H200: best 0.0154 ms, 2.1 times the default config's speed; Config(...)".
std::string Describe(const worker::tune::TaskResult& result);

}  // namespace telemetry
