#include "server/commands/cache_flags.h"

#include <string>

#include "server/commands/lifetime.h"

namespace telemetry::commands {
namespace {

// Parses the age of entries; CLI11 has no type for ages in days.
void ReadCacheAge(const std::string& text, absl::Duration& age) {
  const absl::StatusOr<absl::Duration> parsed = ParseLifetime(text);
  if (!parsed.ok()) throw CLI::ValidationError("--cache-age", std::string(parsed.status().message()));
  age = *parsed;
}

}  // namespace

void AddCacheFlags(cli::Flags& flags, storage::CacheBudget& budget) {
  flags
      .Size(
          "cache-bytes", budget.total_bytes,
          "Most bytes of the entries in the cache; then the sender that holds most loses its oldest ones; 0: no cache")
      ->default_str("256MiB");
  flags
      .Size("cache-sender-bytes", budget.sender_bytes,
            "Most bytes of one sender's entries; then the sender loses its own oldest ones; 0: a quarter of "
            "--cache-bytes")
      ->default_str("0");
  flags.command()
      .add_option_function<std::string>(
          "--cache-age", [&budget](const std::string& text) { ReadCacheAge(text, budget.max_age); },
          "Age above which entries of the cache are no longer served: 90d, 12h")
      ->envname(flags.Variable("cache-age"))
      ->type_name("TIME")
      ->default_str("90d");
}

void AddModelFlags(cli::Flags& flags, storage::ModelBudget& budget) {
  flags
      .Size("model-bytes", budget.total_bytes,
            "Most bytes of all cost models; then the sender that holds most loses its oldest ones; 0: stores none")
      ->default_str("256MiB");
  flags
      .Size("model-sender-bytes", budget.sender_bytes,
            "Most bytes of one sender's models; then the sender loses its own oldest ones; 0: a quarter of "
            "--model-bytes")
      ->default_str("0");
  flags.Add("model-versions", budget.versions, "Most cost models of one sender; then the sender loses its oldest one")
      ->check(CLI::PositiveNumber);
}

}  // namespace telemetry::commands
