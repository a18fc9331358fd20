#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "worker/wrapper/program/program.h"

namespace telemetry::worker::wrapper::program {

// Returns the sample plans. Together they have all kinds of lines except IndexPut (RowUpdatePlan), Scatter
// (ElementUpdatePlan), Concatenate (JoinedPlan) and those of subgraphs (RoutedPlan).
std::vector<Plan> FivePlans();

// Returns a seed for each of the four pairs of predicates that programs of RoutedPlan() draw.
std::vector<uint64_t> RoutedPlanSeeds();

// Return a plan at three shapes, with memory planning: rows or keys of 16, 65 and 128. The rows of decided.json decide
// its conditionals.
std::vector<PlanShape> DecidedShapes();
std::vector<PlanShape> AttentionShapes();

// Returns an H200 as a target, and the default OpenCL target.
codegen::Target CudaTarget();
codegen::Target OpenClTarget();

std::string ReadText(const std::string& path);
void WriteText(const std::string& path, const std::string& text);

// A temporary folder for a test, removed with this object.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The result of a shell command.
struct ShellOutcome {
  int exit_status = -1;
  std::string output;  // stdout and stderr
};
// Runs `command` in the shell, in that folder.
ShellOutcome ShellIn(const std::string& folder, const std::string& command);
ShellOutcome Shell(const TestFolder& folder, const std::string& command);

// Returns the Python of the environment that tests/run sets up, which has NumPy, or "python3".
std::string Python();

// Returns two hex digits for each byte.
std::string Hex(const std::vector<std::byte>& bytes);

// Returns the program without its fixed parts: replaces files of runtime/ by their names, and removes the sources of
// kernels and the values of expected outputs.
std::string OwnText(std::string program);

}  // namespace telemetry::worker::wrapper::program
