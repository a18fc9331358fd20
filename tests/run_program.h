#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

#include "tests/paths.h"

namespace telemetry {

// The exit status and the output of a program.
struct ProgramOutcome {
  int exit_status = -1;  // -1: a signal ended the program, or it never started
  std::string output;    // stdout and stderr
};

// Runs one of the built programs through the shell and returns when it has ended. `environment` has the form
// "NAME=VALUE ...". A program that runs longer than `limit_s` seconds is terminated.
inline ProgramOutcome RunProgram(const std::string& name, const std::string& arguments,
                                 const std::string& environment = "", int limit_s = 60) {
  const std::string command = "env " + environment + " timeout " + std::to_string(limit_s) + " " + BinDir() + "/" +
                              name + " " + arguments + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  ProgramOutcome outcome;
  std::array<char, 4096> buffer;
  while (size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe)) outcome.output.append(buffer.data(), size);
  const int status = pclose(pipe);
  outcome.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

}  // namespace telemetry
