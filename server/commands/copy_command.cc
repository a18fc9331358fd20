#include "server/commands/copy_command.h"

#include <cstdio>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/base/status_macros.h"
#include "proto/record/counted.h"
#include "server/copy/copy_dataset.h"
#include "server/storage/any/any_store.h"

namespace telemetry::collector {
namespace {

// Prints a progress line on stderr at most every 5 s.
class CopyLog {
 public:
  void Say(const std::string& what, const std::string& table, int64_t rows) {
    if (what == "copied") copied_at_ = absl::Now();
    if (absl::Now() - said_at_ < absl::Seconds(5)) return;
    said_at_ = absl::Now();
    std::fprintf(stderr, "telemetry-collector: %s %s, at %s\n", what.c_str(), record::Counted(rows, "row").c_str(),
                 table.c_str());
  }

  // The time at which the last row was copied.
  absl::Time copied_at() const { return copied_at_; }

 private:
  absl::Time said_at_ = absl::Now();
  absl::Time copied_at_ = absl::Now();
};

}  // namespace

absl::Status Copy(const CommandLine& line) {
  CopyLog log;
  const absl::Time began = absl::Now();
  ASSIGN_OR_RETURN(const copy::CopyReport report,
                   copy::CopyDataset({.from = line.from,
                                      .to = line.to,
                                      .on_progress = [&log](const char* what, const std::string& table, int64_t rows) {
                                        log.Say(what, table, rows);
                                      }}));
  for (const auto& [table, hash] : report.tables) {
    std::printf("%-20s %17s  %s\n", table.c_str(), record::Counted(hash.rows, "row").c_str(), hash.sha256_hex.c_str());
  }
  for (const copy::ExportHash& file : report.files) {
    std::printf("export %-30s %s\n", file.suffix.c_str(), file.sha256_hex.c_str());
  }
  std::printf("%s copied%s in %.1f s; all verified in %.1f s\n", record::Counted(report.rows, "row").c_str(),
              report.went_on ? " in addition to the rows copied before" : "",
              absl::ToDoubleSeconds(log.copied_at() - began), absl::ToDoubleSeconds(absl::Now() - log.copied_at()));
  std::printf("%s: dataset %s, the same as in %s\n", storage::WithoutPasswords(line.to).c_str(),
              report.dataset_id.c_str(), storage::WithoutPasswords(line.from).c_str());
  return absl::OkStatus();
}

}  // namespace telemetry::collector
