#include "tests/bench/bench_ingest/pg_limit.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string_view>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "proto/record/python_literal.h"
#include "tests/bench/bench_ingest/bench_database.h"

namespace telemetry::bench {
namespace {

constexpr char kMeasurementColumns[] =
    "run, attempt, seq, timestamp_s, generation, status, perf_ms, compile_time_s, config";
constexpr int kStarted = 1;
constexpr int kOk = 2;

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

// Runs a file of commands with psql and returns the elapsed seconds.
double RunPsql(const std::string& url, const std::string& script) {
  std::vector<std::string> arguments = {"psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", script, url};
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const absl::Time begin = absl::Now();
  pid_t pid = -1;
  if (posix_spawnp(&pid, "psql", nullptr, nullptr, argv.data(), environ) != 0) Fail("cannot start psql");
  int status = 0;
  waitpid(pid, &status, 0);
  if (status != 0) Fail("psql failed");
  return absl::ToDoubleSeconds(absl::Now() - begin);
}

std::string Text(const std::string& text) {
  return absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\n", "\\n"}, {"\t", "\\t"}});
}

std::string Bytes(const std::string& bytes) { return absl::StrCat("\\\\x", absl::BytesToHexString(bytes)); }

std::string Number(double value) {
  char digits[32];
  const std::to_chars_result end = std::to_chars(digits, digits + sizeof(digits), value);
  return {digits, end.ptr};
}

// The file of one table in COPY format, and the \copy command that loads it.
class TableFile {
 public:
  TableFile(const std::string& folder, const std::string& table, const std::string& columns)
      : path_(absl::StrCat(folder, "/", table)),
        command_(absl::StrCat("\\copy ", table, " (", columns, ") FROM '", path_, "'\n")),
        file_(path_) {}

  template <typename... Cells>
  void Add(const Cells&... cells) {
    file_ << absl::StrJoin({absl::StrCat(cells)...}, "\t") << '\n';
  }
  // Closes the file and returns the command that loads it.
  const std::string& Close() {
    file_.close();
    if (!file_) Fail(absl::StrCat(path_, ": cannot be written"));
    return command_;
  }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
  const std::string command_;
  std::ofstream file_;
};

// The files of all tables that the workload fills.
class CopyFiles {
 public:
  CopyFiles(const Workload& workload, uint64_t rows, const std::string& folder)
      : folder_(folder),
        kernels_(folder, "kernels", "kernel, name, source, content_sha256"),
        runs_(folder, "runs", "run, run_id, kernel, input_shapes, dtypes, hardware"),
        attempts_(folder, "attempts",
                  "attempt, attempt_id, run, origin, dialect, state, provisional, first_received_unix_us"),
        arguments_(folder, "config_arguments", "argument, text"),
        configs_(folder, "configs", "config, config_id, arguments"),
        statuses_(folder, "statuses", "status, name"),
        measurements_(folder, "measurements", kMeasurementColumns) {
    const v1::Run any = Workload::BuildRun(0);
    kernels_.Add(1, Text(any.kernel_name()), Text(any.kernel_source()), Bytes("content"));
    statuses_.Add(kStarted, "started");
    statuses_.Add(kOk, "ok");
    for (int run = 0; run < Workload::kRuns; ++run) AddRun(workload, run, Workload::RowsOfRun(rows, run));
    others_ = absl::StrCat(kernels_.Close(), runs_.Close(), attempts_.Close(), arguments_.Close(), configs_.Close(),
                           statuses_.Close());
    measurement_command_ = measurements_.Close();
  }

  // Return the paths of scripts for psql.
  std::string CopyAll() const { return Script("copy.sql", others_ + measurement_command_); }
  std::string CopyAllButMeasurements() const { return Script("others.sql", others_); }
  std::string InsertMeasurements(uint64_t rows) const {
    std::ifstream lines(measurements_.path());
    std::string sql;
    std::string line;
    for (uint64_t i = 0; i < rows && std::getline(lines, line); ++i) {
      absl::StrAppend(&sql, "INSERT INTO measurements (", kMeasurementColumns, ") VALUES (",
                      absl::StrReplaceAll(line, {{"\t", ", "}, {"\\N", "NULL"}}), ");\n");
    }
    return Script("insert.sql", sql);
  }

 private:
  void AddRun(const Workload& workload, int number, uint64_t rows) {
    const v1::Run run = Workload::BuildRun(number);
    runs_.Add(number + 1, run.run_id(), 1, Text(run.input_shapes()), Text(run.dtypes()), Text(run.hardware()));
    std::vector<int64_t> configs(workload.configs(number).size(), 0);
    v1::Measurement row;
    for (uint64_t i = 0; i < rows; ++i) {
      const uint64_t attempt = i / Workload::kRowsPerAttempt;
      const uint64_t index = i % Workload::kRowsPerAttempt;
      if (index == 0) {
        attempts_.Add(++attempt_, Bytes(Workload::BuildAttempt(number, attempt).attempt_id()), number + 1, "bench", "",
                      "open", 0, 0);
      }
      int64_t& config = configs[Workload::ConfigIndex(number, attempt, index)];
      if (config == 0) config = AddConfig(workload.configs(number)[Workload::ConfigIndex(number, attempt, index)]);
      workload.FillRow(number, attempt, index, &row);
      measurements_.Add(number + 1, attempt_, row.seq(), Number(row.timestamp_s()), row.generation(),
                        row.has_perf_ms() ? kOk : kStarted, row.has_perf_ms() ? Number(row.perf_ms()) : "\\N",
                        Number(row.compile_time_s()), config);
    }
  }

  int64_t AddConfig(const v1::Config& config) {
    std::vector<int64_t> keys;
    for (const std::string_view argument : record::SplitConfigArguments(config.text())) {
      const auto [it, is_new] = argument_keys_.try_emplace(std::string(argument), argument_keys_.size() + 1);
      if (is_new) arguments_.Add(it->second, Text(it->first));
      keys.push_back(it->second);
    }
    configs_.Add(++config_, static_cast<int64_t>(config.config_id()), "[" + absl::StrJoin(keys, ",") + "]");
    return config_;
  }

  std::string Script(const std::string& name, const std::string& commands) const {
    std::string path = absl::StrCat(folder_, "/", name);
    std::ofstream file(path);
    file << commands;
    file.close();
    if (!file) Fail(absl::StrCat(path, ": cannot be written"));
    return path;
  }

  const std::string folder_;
  TableFile kernels_, runs_, attempts_, arguments_, configs_, statuses_, measurements_;
  std::map<std::string, int64_t> argument_keys_;
  int64_t attempt_ = 0;
  int64_t config_ = 0;
  std::string others_;
  std::string measurement_command_;
};

}  // namespace

double MeasureCopy(const Workload& workload, uint64_t rows, const std::string& server, const std::string& folder) {
  const CopyFiles files(workload, rows, folder);
  const BenchDatabase database(server);
  database.MakeSchema();
  return static_cast<double>(rows) / RunPsql(database.url(), files.CopyAll());
}

double MeasureInserts(const Workload& workload, uint64_t rows, const std::string& server, const std::string& folder) {
  const CopyFiles files(workload, rows, folder);
  const BenchDatabase database(server);
  database.MakeSchema();
  RunPsql(database.url(), files.CopyAllButMeasurements());
  return static_cast<double>(rows) / RunPsql(database.url(), files.InsertMeasurements(rows));
}

}  // namespace telemetry::bench
