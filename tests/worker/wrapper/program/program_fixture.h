#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "worker/wrapper/program/program.h"

namespace telemetry::worker::wrapper {

// The plans that every backend is shown with: between them they have all kinds of lines.
std::vector<Plan> FivePlans();

// An H200, and whatever runs OpenCL here.
codegen::Target CudaTarget();
codegen::Target OpenClTarget();

std::string ReadText(const std::string& path);
void WriteText(const std::string& path, const std::string& text);

// A folder of this test's own, for as long as the object.
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

struct ShellOutcome {
  int exit_status = -1;
  std::string output;  // stdout and stderr
};
// `command` through the shell, in that folder.
ShellOutcome Shell(const TestFolder& folder, const std::string& command);

// Two digits for each.
std::string Hex(const std::vector<std::byte>& bytes);

// The program without what is not written for the plan: files of runtime/ are named, kernels' sources and what has to
// come out left out.
std::string OwnText(std::string program);

}  // namespace telemetry::worker::wrapper
