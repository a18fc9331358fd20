#include "worker/repro/repro_commands.h"

#include <algorithm>
#include <vector>

#include "proto/record/counted.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"
#include "worker/repro/program_files.h"

namespace telemetry::worker::repro {

using record::Cat;

namespace {

constexpr size_t kMostCommands = 3;

}  // namespace

std::string ReproCommands(const tune::TaskResult& result, const std::string& collector, const std::string& spec) {
  const std::vector<uint64_t>& failed = result.tuned.failed_runs;
  if (failed.empty() || collector.empty()) return "";
  std::string text =
      Cat(record::Counted(failed.size(), "config"), " crashed, ran too long or gave wrong results. ",
          failed.size() > kMostCommands ? "To repeat the first of them" : "To repeat", " in a program of its own:\n");
  for (size_t i = 0; i < std::min(failed.size(), kMostCommands); ++i) {
    text += Cat("  telemetry-worker repro ", result.run.run_id(), " --config-id ", record::FormatConfigId(failed[i]),
                spec.empty() ? "" : Cat(" --spec ", ForShell(spec)), " --collector ", ForShell(collector), "\n");
  }
  return text;
}

}  // namespace telemetry::worker::repro
