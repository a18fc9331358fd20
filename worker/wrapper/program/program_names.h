#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "worker/wrapper/program/program_model.h"

namespace telemetry::worker::wrapper::program {

// A set of the names that are used in a program, each once.
class Names {
 public:
  // `taken` lists the names that cannot be used, separated by blanks: reserved words of the language, and names that
  // programs declare themselves.
  explicit Names(std::string_view taken);
  // Returns `wanted` with the characters replaced that a name cannot contain, and with a number appended if the name is
  // taken.
  std::string Of(std::string_view wanted);

 private:
  std::set<std::string, std::less<>> taken_;
};

// The names of the parts of a program.
struct ProgramNames {
  std::string run;                                        // the function that runs the plan, or makes its module
  std::string inputs;                                     // the function that draws the inputs
  std::vector<std::string> buffers;                       // by buffer of the plan
  std::vector<std::string> kernels;                       // by kernel of the model
  std::vector<std::string> sources;                       // by kernel of the model
  std::vector<std::string> expected;                      // by output
  std::map<std::string, std::string, std::less<>> packs;  // by the name of the pack in the plan
  std::map<size_t, std::string> subgraphs;                // by line EnterSubgraph, or If for a branch that is missing
  std::map<size_t, std::string> debug_values;             // by the line whose values are shown
};

// The reserved words of a language with the names that its programs declare themselves (Names), and the functions of a
// program.
struct LanguageNames {
  std::string_view taken;
  std::string_view run;
  std::string_view inputs;
};

// Returns a name for each part of the model. `shape` is 0 for a program of one shape. For a program of several shapes
// it is the number of the shape, which the names of functions end with, and `before` has the names of the shapes
// before.
ProgramNames ChooseNames(const ProgramModel& model, const LanguageNames& language, size_t shape = 0,
                         absl::Span<const ProgramNames> before = {});

}  // namespace telemetry::worker::wrapper::program
