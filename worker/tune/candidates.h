#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "worker/codegen/code_size.h"
#include "worker/codegen/config.h"
#include "worker/codegen/generated_kernel.h"

namespace telemetry::worker::tune {

// A config with its generated code.
struct Candidate {
  codegen::Config config;
  codegen::GeneratedKernel generated;
  std::string source_hash;  // SHA-256 of the source in lower-case hex
  codegen::CodeSize size;
};

// Generates and caches the code of configs, and detects configs that need not be run. Not thread-safe.
class Candidates {
 public:
  using Generate = std::function<absl::StatusOr<codegen::GeneratedKernel>(const codegen::Config& config)>;
  // Called once for each considered config that will not run: with the error if its code cannot be generated, or with
  // the source's hash if an earlier config has the same code.
  using OnPassedOver =
      std::function<void(const codegen::Config& config, const absl::StatusOr<std::string>& source_hash)>;

  Candidates(Generate generate, OnPassedOver on_passed_over)
      : generate_(std::move(generate)), on_passed_over_(std::move(on_passed_over)) {}

  // Returns a text that is equal for configs with the same code and the same launch parameters; used as
  // SearchOptions::fingerprint. Returns the errors of Generate.
  absl::StatusOr<std::string> Fingerprint(const codegen::Config& config);

  // Returns a config with its code, which the first call for the config generates. Returns the errors of Generate.
  absl::StatusOr<std::shared_ptr<const Candidate>> Find(const codegen::Config& config);

 private:
  absl::StatusOr<std::shared_ptr<const Candidate>> Make(const codegen::Config& config);

  const Generate generate_;
  const OnPassedOver on_passed_over_;
  std::map<uint64_t, absl::StatusOr<std::shared_ptr<const Candidate>>> known_;  // by config id
  absl::flat_hash_set<std::string> fingerprints_;
};

}  // namespace telemetry::worker::tune
