#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "worker/wrapper/program/program_model.h"

namespace telemetry::worker::wrapper {

// Names of things of the plan that a language takes, each once.
class Names {
 public:
  // Those that are not to be had, with blanks between: words of the language, and what programs declare themselves.
  explicit Names(std::string_view taken);
  // `wanted` with what no name may have replaced; with a number behind it where it is taken.
  std::string Of(std::string_view wanted);

 private:
  std::set<std::string, std::less<>> taken_;
};

// What the things of a program are called in it.
struct ProgramNames {
  std::vector<std::string> buffers;                       // by buffer of the plan
  std::vector<std::string> kernels;                       // by kernel of the model
  std::vector<std::string> sources;                       // likewise
  std::vector<std::string> expected;                      // by output
  std::map<std::string, std::string, std::less<>> packs;  // by the plan's names
};

ProgramNames NamesOf(const ProgramModel& model, std::string_view taken);

}  // namespace telemetry::worker::wrapper
