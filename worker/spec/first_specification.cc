#include "worker/spec/first_specification.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "proto/record/numbers.h"
#include "proto/record/strings.h"
#include "worker/spec/element_type.h"
#include "worker/spec/source_text.h"

namespace telemetry::worker::spec {
namespace {

using record::Cat;
using record::Json;

// Returns the words of a text; every other character but space is a word of its own.
std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && IsWordCharacter(text[end])) ++end;
    if (end == i) ++end;
    if (text[i] != ' ' && text[i] != '\n') words.emplace_back(text.substr(i, end - i));
    i = end;
  }
  return words;
}

// A kernel's name and the words of each of its parameters.
struct FoundKernel {
  std::string name;
  std::vector<std::vector<std::string>> parameters;
};

std::vector<FoundKernel> FindKernels(const std::vector<std::string>& words) {
  std::vector<FoundKernel> kernels;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] != "__global__" && words[i] != "__kernel" && words[i] != "kernel") continue;
    // The name is the last word before the parameters; attributes have brackets of their own, behind a word with "__".
    size_t open = i + 1;
    while (open < words.size() && words[open] != "{" && words[open] != ";") {
      const bool is_attribute = words[open - 1].starts_with("__") || words[open - 1] == "(";
      if (words[open] == "(" && !is_attribute) break;
      if (words[open] == "(") {
        for (int depth = 0; open < words.size(); ++open) {
          if (words[open] == "(") ++depth;
          if (words[open] == ")" && --depth == 0) break;
        }
      }
      ++open;
    }
    if (open >= words.size() || words[open] != "(" || words[open - 1] == "void") continue;
    FoundKernel kernel = {.name = words[open - 1]};
    std::vector<std::string> parameter;
    int depth = 1;
    for (size_t at = open + 1; at < words.size() && depth > 0; ++at) {
      if (words[at] == "(" || words[at] == "<" || words[at] == "[") ++depth;
      if (words[at] == ")" || words[at] == ">" || words[at] == "]") --depth;
      const bool ends = depth == 0 || (depth == 1 && words[at] == ",");
      if (!ends) {
        parameter.push_back(words[at]);
      } else if (!parameter.empty()) {
        kernel.parameters.push_back(std::move(parameter));
        parameter.clear();
      }
    }
    const bool is_known = std::any_of(kernels.begin(), kernels.end(),
                                      [&](const FoundKernel& other) { return other.name == kernel.name; });
    if (!is_known) kernels.push_back(std::move(kernel));
  }
  return kernels;
}

// Returns the type's name in T1, or "custom".
std::string TypeName(std::string type) {
  static const std::map<std::string, std::string> kAliases = {{"unsigned", "uint32"},
                                                              {"uint", "uint32"},
                                                              {"uchar", "uint8"},
                                                              {"ushort", "uint16"},
                                                              {"ulong", "uint64"},
                                                              {"size_t", "uint64"},
                                                              {"long long", "int64"},
                                                              {"unsigned long long", "uint64"},
                                                              {"signed char", "int8"},
                                                              {"int8_t", "int8"},
                                                              {"int16_t", "int16"},
                                                              {"int32_t", "int32"},
                                                              {"int64_t", "int64"},
                                                              {"uint8_t", "uint8"},
                                                              {"uint16_t", "uint16"},
                                                              {"uint32_t", "uint32"},
                                                              {"uint64_t", "uint64"},
                                                              {"long int", "int64"},
                                                              {"unsigned long int", "uint64"}};
  if (const auto alias = kAliases.find(type); alias != kAliases.end()) type = alias->second;
  const absl::StatusOr<ArgumentType> parsed = ParseArgumentType(type);
  return parsed.ok() ? T1Name(*parsed) : "custom";
}

void Add(Json* object, std::string key, Json value) { object->members.emplace_back(std::move(key), std::move(value)); }

// Returns true if a kernel of the source reads the second index of its blocks or threads.
bool HasTwoDimensions(std::string_view source) {
  constexpr std::string_view kSecond[] = {"blockIdx.y", "threadIdx.y", "get_global_id(1)", "get_group_id(1)",
                                          "get_local_id(1)"};
  return std::any_of(std::begin(kSecond), std::end(kSecond),
                     [&](std::string_view word) { return source.find(word) != std::string_view::npos; });
}

// `size` is the number of elements of vectors.
Json ArgumentFor(const std::vector<std::string>& words, const std::string& size) {
  static const std::set<std::string> kQualifiers = {"const",    "__restrict__", "restrict", "__restrict", "volatile",
                                                    "__global", "global",       "__local",  "local",      "__constant",
                                                    "constant", "__private",    "private",  "*",          "&"};
  std::vector<std::string> type;
  bool is_pointer = false;
  bool is_local = false;
  bool is_constant = false;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    is_pointer = is_pointer || words[i] == "*";
    is_local = is_local || words[i] == "__local" || words[i] == "local";
    is_constant = is_constant || words[i] == "const" || words[i] == "__constant" || words[i] == "constant";
    if (!kQualifiers.contains(words[i])) type.push_back(words[i]);
  }
  Json argument = Json::Object();
  Add(&argument, "Name", Json::String(words.back()));
  Add(&argument, "Type", Json::String(TypeName(absl::StrJoin(type, " "))));
  Add(&argument, "MemoryType", Json::String(is_local ? "Local" : is_pointer ? "Vector" : "Scalar"));
  if (!is_pointer) {
    Add(&argument, "FillValue", Json::Integer(1));
    Add(&argument, "Comment", Json::String("FillValue: the number that is passed"));
    return argument;
  }
  Add(&argument, "Size", Json::String(size));
  if (is_local) return argument;
  Add(&argument, "AccessType", Json::String(is_constant ? "ReadOnly" : "ReadWrite"));
  Add(&argument, "FillType", Json::String(is_constant ? "Random" : "Constant"));
  Add(&argument, "FillValue", Json::Integer(is_constant ? 1 : 0));
  Add(&argument, "Comment",
      Json::String(is_constant ? "Size: the number of elements, also as an expression"
                               : "Size: the number of elements; AccessType: WriteOnly if the kernel does not read it"));
  return argument;
}

// Returns the macros that the source tests, each with the value that the source gives it by default, or 0.
std::vector<std::pair<std::string, int64_t>> FindMacros(std::string_view source) {
  std::vector<std::pair<std::string, int64_t>> macros;
  const auto find = [&](const std::string& name) {
    return std::find_if(macros.begin(), macros.end(), [&](const auto& macro) { return macro.first == name; });
  };
  static const std::set<std::string> kNoMacros = {"defined", "if", "elif", "endif", "else"};
  std::set<std::string> defined;  // by the source, without a test before
  while (!source.empty()) {
    const std::string_view line = source.substr(0, source.find('\n'));
    source.remove_prefix(std::min(line.size() + 1, source.size()));
    if (!line.starts_with("#")) continue;
    const std::vector<std::string> words = WordsOf(line);
    if (words.size() < 3) continue;
    const std::string& name = words[2];
    if (words[1] == "define") {
      if (const auto macro = find(name); macro == macros.end()) {
        defined.insert(name);
      } else if (words.size() == 4) {
        macro->second = record::ParseInt64(words[3]).value_or(macro->second);
      }
      continue;
    }
    if (words[1] != "if" && words[1] != "elif" && words[1] != "ifdef" && words[1] != "ifndef") continue;
    for (size_t i = 2; i < words.size(); ++i) {
      const bool is_name = !(words[i][0] >= '0' && words[i][0] <= '9') && IsWordCharacter(words[i][0]);
      const bool is_of_compiler = words[i].starts_with("__") || words[i].starts_with("cl_");
      if (is_name && !is_of_compiler && !kNoMacros.contains(words[i]) && !defined.contains(words[i]) &&
          find(words[i]) == macros.end()) {
        macros.emplace_back(words[i], 0);
      }
    }
  }
  return macros;
}

Json ParameterFor(const std::string& name, const std::string& values, int64_t default_value, const char* comment) {
  Json parameter = Json::Object();
  Add(&parameter, "Name", Json::String(name));
  Add(&parameter, "Type", Json::String("int"));
  Add(&parameter, "Values", Json::String(values));
  Add(&parameter, "Default", Json::Integer(default_value));
  Add(&parameter, "Comment", Json::String(comment));
  return parameter;
}

Json ParametersFor(std::string_view source) {
  Json parameters = Json::Array();
  const bool is_plane = HasTwoDimensions(source);
  parameters.items.push_back(ParameterFor("block_size_x", is_plane ? "[8, 16, 32]" : "[32, 64, 128, 256]",
                                          is_plane ? 16 : 64,
                                          "threads of a block in x; a macro of this name in the kernel has its value"));
  if (is_plane) parameters.items.push_back(ParameterFor("block_size_y", "[1, 2, 4, 8]", 4, "threads of a block in y"));
  for (const auto& [name, value] : FindMacros(source)) {
    if (name == "block_size_x" || (is_plane && name == "block_size_y")) continue;
    const std::string values = value == 0 || value == 1 ? "[0, 1]" : Cat("[", value, "]");
    parameters.items.push_back(
        ParameterFor(name, values, value, "a macro that the source tests; list the values to try"));
  }
  return parameters;
}

}  // namespace

absl::StatusOr<Json> FirstSpecification(std::string_view source, const std::string& file, device::Dialect dialect,
                                        const std::string& kernel) {
  const std::string text = NormalizeSource(source);
  const std::vector<FoundKernel> kernels = FindKernels(WordsOf(text));
  const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const FoundKernel& candidate) {
    return kernel.empty() || candidate.name == kernel;
  });
  if (found == kernels.end()) {
    const std::string names = absl::StrJoin(
        kernels, ", ", [](std::string* out, const FoundKernel& candidate) { out->append(candidate.name); });
    return absl::NotFoundError(kernels.empty() ? Cat(file, " has no kernel: no function is __global__ or __kernel")
                                               : Cat(file, " has no kernel '", kernel, "'; it has ", names));
  }
  Json space = Json::Object();
  Add(&space, "TuningParameters", ParametersFor(text));
  Add(&space, "Conditions", Json::Array());
  Add(&space, "Comment",
      Json::String("Conditions: {\"Expression\": \"block_size_x * tile <= 1024\", \"Parameters\": [\"block_size_x\", "
                   "\"tile\"]}"));
  Json specification = Json::Object();
  const bool is_cuda = dialect == device::Dialect::kCuda;
  Add(&specification, "Language", Json::String(is_cuda ? "CUDA" : "OpenCL"));
  Add(&specification, "KernelName", Json::String(found->name));
  Add(&specification, "KernelFile", Json::String(file));
  Add(&specification, "CompilerOptions", Json::Array());
  Json problem_size = Json::Array();
  const bool is_plane = HasTwoDimensions(text);
  problem_size.items = {Json::Integer(is_plane ? 1024 : 1 << 20)};
  if (is_plane) problem_size.items.push_back(Json::Integer(1024));
  Add(&specification, "ProblemSize", std::move(problem_size));
  const auto divisor = [](const char* name) {
    Json divisors = Json::Array();
    divisors.items = {Json::String(name)};
    return divisors;
  };
  Add(&specification, "GridDivX", divisor("block_size_x"));
  if (is_plane) Add(&specification, "GridDivY", divisor("block_size_y"));
  Json arguments = Json::Array();
  for (const std::vector<std::string>& parameter : found->parameters) {
    arguments.items.push_back(ArgumentFor(parameter, is_plane ? "ProblemSize[0] * ProblemSize[1]" : "ProblemSize[0]"));
  }
  Add(&specification, "Arguments", std::move(arguments));
  Json verification = Json::Object();
  Add(&verification, "Method", Json::String("ReferenceConfig"));
  Add(&verification, "AbsoluteTolerance", Json::Number("1e-06"));
  Add(&verification, "RelativeTolerance", Json::Number("0.001"));
  Add(&verification, "Comment", Json::String("ReferenceConfig: all configs give the results of the default config"));
  Add(&specification, "Verification", std::move(verification));
  Add(&specification, "Comment",
      Json::String(
          "ProblemSize: the size of the problem in x, y, z; the grid is its quotient by GridDivX, GridDivY and "
          "GridDivZ, rounded up. If the size of a block is not block_size_x by block_size_y, add LocalSize: {\"X\": "
          "\"tile\", \"Y\": \"rows\"}"));
  Json root = Json::Object();
  Add(&root, "ConfigurationSpace", std::move(space));
  Add(&root, "KernelSpecification", std::move(specification));
  return root;
}

}  // namespace telemetry::worker::spec
