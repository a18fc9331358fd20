#include "worker/wrapper/program/program_names.h"

#include <cctype>

#include "absl/strings/str_split.h"
#include "proto/record/strings.h"

namespace telemetry::worker::wrapper::program {

using record::Cat;

Names::Names(std::string_view taken) : taken_(absl::StrSplit(record::AbslView(taken), ' ')) {}

std::string Names::Of(std::string_view wanted) {
  std::string name;
  for (const char c : wanted) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  // Names that contain two underscores or begin with one are reserved.
  if (name.empty() || name[0] == '_' || std::isdigit(static_cast<unsigned char>(name[0])) != 0) name = Cat("b", name);
  for (size_t at = name.find("__"); at != std::string::npos; at = name.find("__")) name.erase(at, 1);
  std::string unique = name;
  for (int number = 2; !taken_.insert(unique).second; ++number) {
    unique = Cat(name, name.back() == '_' ? "" : "_", number);
  }
  return unique;
}

ProgramNames ChooseNames(const ProgramModel& model, const LanguageNames& language, size_t shape,
                         absl::Span<const ProgramNames> before) {
  // The parts of other shapes that are no local names.
  std::string taken(language.taken);
  for (const ProgramNames& other : before) {
    taken += Cat(" ", other.run, " ", other.inputs);
    for (const auto* of_other : {&other.sources, &other.kernels, &other.expected}) {
      for (const std::string& name : *of_other) taken += Cat(" ", name);
    }
  }
  Names names(taken);
  ProgramNames all = {.run = std::string(language.run), .inputs = std::string(language.inputs)};
  if (shape > 0) {
    all.run = names.Of(Cat(language.run, "_", shape));
    all.inputs = names.Of(Cat(language.inputs, "_", shape));
  }
  for (const PlanBuffer& buffer : model.plan->buffers) all.buffers.push_back(names.Of(buffer.name));
  for (const ProgramKernel& kernel : model.kernels) {
    all.kernels.push_back(names.Of(kernel.name));
    all.sources.push_back(names.Of(Cat(kernel.name, "_source")));
  }
  for (const int output : model.plan->outputs) {
    all.expected.push_back(names.Of(Cat("expected_", model.plan->buffer(output).name)));
  }
  for (const Line& line : model.plan->lines) {
    const auto* allocating = std::get_if<CallExternAllocating>(&line);
    if (allocating == nullptr || allocating->pack.empty()) continue;
    all.packs.emplace(allocating->pack, names.Of(allocating->pack));
  }
  for (size_t line = 0; line < model.plan->lines.size(); ++line) {
    const auto* subgraph = std::get_if<EnterSubgraph>(&model.plan->lines[line]);
    if (subgraph != nullptr) all.subgraphs[line] = names.Of(subgraph->name);
    if (std::holds_alternative<If>(model.plan->lines[line])) all.subgraphs[line] = names.Of("no_else");
  }
  for (size_t line = 0; line < model.debug_calls.size(); ++line) {
    const std::optional<DebugCall>& call = model.debug_calls[line];
    if (call.has_value() && call->shows_values) all.debug_values[line] = names.Of(Cat(call->kernel, "_values"));
  }
  return all;
}

}  // namespace telemetry::worker::wrapper::program
