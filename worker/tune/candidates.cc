#include "worker/tune/candidates.h"

#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"

namespace telemetry::worker::tune {
namespace {

// Returns the launch parameters as text. Two configs with equal sources and equal texts launch identically.
std::string FormatLaunch(const codegen::GeneratedKernel& kernel) {
  std::string text =
      record::Cat(kernel.threads, " ", kernel.shared_bytes, " ", kernel.persistent_tiles, " ", kernel.cluster_blocks);
  for (const codegen::GeneratedKernel::GridAxis& axis : kernel.grid) text += record::Cat(" ", axis.block);
  return text;
}

}  // namespace

absl::StatusOr<std::string> Candidates::Fingerprint(const codegen::Config& config) {
  const bool is_new = !known_.contains(config.id());
  absl::StatusOr<std::shared_ptr<const Candidate>> candidate = Find(config);
  if (!candidate.ok()) {
    if (is_new) on_passed_over_(config, candidate.status());
    return candidate.status();
  }
  std::string fingerprint = record::Cat((*candidate)->source_hash, " ", FormatLaunch((*candidate)->generated));
  const bool is_first = fingerprints_.insert(fingerprint).second;
  if (is_new && !is_first) on_passed_over_(config, (*candidate)->source_hash);
  return fingerprint;
}

absl::StatusOr<std::shared_ptr<const Candidate>> Candidates::Find(const codegen::Config& config) {
  const auto found = known_.find(config.id());
  if (found != known_.end()) return found->second;
  return known_.emplace(config.id(), Make(config)).first->second;
}

absl::StatusOr<std::shared_ptr<const Candidate>> Candidates::Make(const codegen::Config& config) {
  ASSIGN_OR_RETURN(codegen::GeneratedKernel generated, generate_(config));
  std::string hash = record::Sha256Hex(generated.source);
  const codegen::CodeSize size = codegen::MeasureCodeSize(generated.source);
  return std::make_shared<const Candidate>(Candidate{config, std::move(generated), std::move(hash), size});
}

}  // namespace telemetry::worker::tune
