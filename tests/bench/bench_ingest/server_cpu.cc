#include "tests/bench/bench_ingest/server_cpu.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "server/storage/postgresql/pg_database.h"

namespace telemetry::bench {
namespace {

struct Process {
  std::string name;
  pid_t parent = 0;
  double own_cpu_s = 0;
  double children_cpu_s = 0;  // of child processes that ended and were waited for
};

std::optional<Process> ReadProcess(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const size_t name = line.find('(') + 1;
  const size_t name_end = line.rfind(')');
  Process process{.name = line.substr(name, name_end - name)};
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  fields >> skipped >> process.parent;
  for (int i = 0; i < 9; ++i) fields >> skipped;
  double user = 0;
  double system = 0;
  double children_user = 0;
  double children_system = 0;
  fields >> user >> system >> children_user >> children_system;
  const auto ticks_per_s = static_cast<double>(sysconf(_SC_CLK_TCK));
  process.own_cpu_s = (user + system) / ticks_per_s;
  process.children_cpu_s = (children_user + children_system) / ticks_per_s;
  return process;
}

}  // namespace

ServerCpu::ServerCpu(const std::string& url) {
  const absl::StatusOr<std::unique_ptr<storage::postgresql::PgDatabase>> database =
      storage::postgresql::PgDatabase::Open(url);
  const absl::StatusOr<int64_t> backend =
      database.ok() ? (*database)->QueryInt("SELECT pg_backend_pid()") : database.status();
  if (!backend.ok()) {
    std::fprintf(stderr, "%s\n", backend.status().ToString().c_str());
    std::exit(1);
  }
  const std::optional<Process> process = ReadProcess(static_cast<pid_t>(*backend));
  if (process && process->name == "postgres") postmaster_ = process->parent;
}

double ServerCpu::Seconds() const {
  if (postmaster_ == 0) return 0;
  double seconds = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (!std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; })) continue;
    const pid_t pid = std::stoi(name);
    const std::optional<Process> process = ReadProcess(pid);
    if (!process) continue;
    if (pid == postmaster_) seconds += process->own_cpu_s + process->children_cpu_s;
    if (process->parent == postmaster_) seconds += process->own_cpu_s;
  }
  return seconds;
}

}  // namespace telemetry::bench
