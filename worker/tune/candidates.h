#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "worker/codegen/config.h"
#include "worker/codegen/generate.h"

namespace telemetry::worker::tune {

// A config with its code.
struct Candidate {
  codegen::Config config;
  codegen::GeneratedKernel generated;
  std::string source_hash;  // SHA-256 of the source in lower-case hex
};

// Generates what a search asks for, and tells which configs need not be run. Not thread-safe.
class Candidates {
 public:
  using Generate = std::function<absl::StatusOr<codegen::GeneratedKernel>(const codegen::Config& config)>;
  // Hears, once, of each config that is considered and not run: one without code (the status says why), and one whose
  // code an earlier config has (OK, and the hash of the source).
  using OnPassedOver =
      std::function<void(const codegen::Config& config, const absl::StatusOr<std::string>& source_hash)>;

  Candidates(Generate generate, OnPassedOver on_passed_over)
      : generate_(std::move(generate)), on_passed_over_(std::move(on_passed_over)) {}

  // What configs share that make the same code: SearchOptions::fingerprint. Errors are Generate's.
  absl::StatusOr<std::string> Fingerprint(const codegen::Config& config);

  // A config with its code, which is generated the first time. Errors are Generate's.
  absl::StatusOr<std::shared_ptr<const Candidate>> Find(const codegen::Config& config);

 private:
  absl::StatusOr<std::shared_ptr<const Candidate>> Make(const codegen::Config& config);

  const Generate generate_;
  const OnPassedOver on_passed_over_;
  std::map<uint64_t, absl::StatusOr<std::shared_ptr<const Candidate>>> known_;  // by config id
  absl::flat_hash_set<std::string> fingerprints_;
};

}  // namespace telemetry::worker::tune
