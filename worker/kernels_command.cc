#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "proto/record/json.h"
#include "proto/record/strings.h"
#include "worker/commands.h"
#include "worker/kernels/library.h"

namespace telemetry::worker {
namespace {

using kernels::DefaultProblem;
using kernels::LibraryKernel;
using kernels::NumberArgument;
using kernels::Problem;
using kernels::TensorSpec;
using record::Json;

std::string NumberText(const NumberArgument& number) {
  if (number.is_flag) return number.default_value != 0 ? "true" : "false";
  return absl::StrCat(number.default_value);
}

// Returns the default arguments in the syntax of --arg.
std::string ArgumentsText(const LibraryKernel& kernel) {
  std::vector<std::string> parts;
  for (const TensorSpec& tensor : DefaultProblem(kernel).tensors) {
    parts.push_back(record::Cat(tensor.name, "=", absl::StrJoin(tensor.sizes, "x"), ":", ShortName(tensor.dtype)));
  }
  for (const NumberArgument& number : kernel.numbers) {
    parts.push_back(absl::StrCat(number.name, "=", NumberText(number)));
  }
  return absl::StrJoin(parts, " ");
}

void PrintTable() {
  size_t width = 0;
  for (const LibraryKernel* kernel : kernels::AllKernels()) width = std::max(width, kernel->name.size());
  for (const LibraryKernel* kernel : kernels::AllKernels()) {
    std::cout << absl::StrFormat("%-*s  %s\n%*s  %s\n", width, kernel->name, kernel->summary, width, "",
                                 ArgumentsText(*kernel));
  }
}

Json Object(std::vector<std::pair<std::string, Json>> members) {
  Json object = Json::Object();
  object.members = std::move(members);
  return object;
}

template <typename Items, typename ToJson>
Json ToJsonArray(const Items& items, ToJson to_json) {
  Json array = Json::Array();
  for (const auto& item : items) array.items.push_back(to_json(item));
  return array;
}

Json DTypeJson(device::DType dtype) { return Json::String(std::string(ShortName(dtype))); }

Json KernelJson(const LibraryKernel& kernel) {
  const Problem defaults = DefaultProblem(kernel);
  const Json tensors = ToJsonArray(defaults.tensors, [](const TensorSpec& tensor) {
    return Object({{"name", Json::String(tensor.name)},
                   {"shape", ToJsonArray(tensor.sizes, Json::Integer)},
                   {"dtype", DTypeJson(tensor.dtype)}});
  });
  const Json numbers = ToJsonArray(kernel.numbers, [](const NumberArgument& number) {
    return Object({{"name", Json::String(number.name)},
                   {"constexpr", Json::Bool(number.is_flag)},
                   {"default", number.is_flag ? Json::Bool(number.default_value != 0)
                                              : Json::Number(absl::StrCat(number.default_value))}});
  });
  return Object({{"name", Json::String(kernel.name)},
                 {"summary", Json::String(kernel.summary)},
                 {"tensors", tensors},
                 {"numbers", numbers},
                 {"dtypes", ToJsonArray(kernel.dtypes, DTypeJson)}});
}

class KernelsCommand final : public cli::Command {
 public:
  KernelsCommand()
      : Command({.name = "kernels",
                 .summary = "List the kernel library with default arguments",
                 .examples = R"(  telemetry-worker kernels           a table, with the arguments in the syntax of --arg
  telemetry-worker kernels --json    one JSON array
)",
                 .notes = R"(Exit status: 0 done; 2 wrong usage.)"}) {}

  void AddFlags(cli::Flags& flags) override { flags.Switch("json", as_json_, "Print a JSON array"); }

  absl::StatusOr<int> Run() override {
    if (as_json_) {
      const auto all = kernels::AllKernels();
      std::cout << record::ToJson(ToJsonArray(all, [](const LibraryKernel* kernel) { return KernelJson(*kernel); }))
                << "\n";
    } else {
      PrintTable();
    }
    return cli::kExitDone;
  }

 private:
  bool as_json_ = false;
};

}  // namespace

std::unique_ptr<cli::Command> NewKernels() { return cli::New<KernelsCommand>(); }

}  // namespace telemetry::worker
