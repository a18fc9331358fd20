#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace telemetry::worker::forward {

// A write to one of two files that several processes append to.
struct TuningWrite {
  double at_s = 0;  // time of the write by a common clock
  size_t process = 0;
  bool is_trace = false;
  std::string text;  // one line with its end
};

// A process that tunes a kernel as Helion 1.5 does: for each row of the CSV it writes a line of its trace behind it,
// and further lines that have no row.
class TuningProcess {
 public:
  // `start_s` is the time when the trace begins, by the common clock; the CSV's clock starts a second later.
  TuningProcess(size_t number, double start_s);

  // Each writes at a later time than the one before.
  void Event(const std::string& name, const std::string& members = "");
  void Start(int config);
  void Trial(int config, const std::string& status, std::optional<double> perf_ms);
  void Filter(int config);
  void Rebenchmark(int config, double perf_ms);
  // Begins a nested stage, whose rows have a clock of their own.
  void NestedStage();
  void Wait(double seconds) { now_s_ += seconds; }
  void End(const std::string& status);

  // Tunes `configs` configs, beginning with config 0, as a search would.
  void Search(int configs, std::mt19937* random);
  // Removes the writes after the first `count`.
  void Kill(size_t count);

  const std::vector<TuningWrite>& writes() const { return writes_; }
  // Returns the lines of the trace without their ends.
  std::vector<std::string> TraceTexts() const;
  // Returns whether the trace has ended or contains two measured trials or 32 trials.
  bool IsIdentified() const;

 private:
  void AddTrace(const std::string& name, const std::string& members);
  void AddRow(int config, const std::string& status, std::optional<double> perf_ms);
  std::string Members(int config, const std::string& status, std::optional<double> perf_ms, bool is_trial) const;

  size_t number_;
  std::string trace_id_;
  double start_s_;
  double csv_start_s_;
  double now_s_;
  int generation_ = 0;
  std::vector<TuningWrite> writes_;
};

// The run_id of all processes.
std::string TuningRunId();
std::string TuningCsvHeader();
// Returns all writes in the order of their times.
std::vector<TuningWrite> InOrder(const std::vector<TuningProcess>& processes);
// Returns the content of one of the two files after the first `count` writes.
std::string FileAfter(const std::vector<TuningWrite>& writes, size_t count, bool is_trace);

}  // namespace telemetry::worker::forward
