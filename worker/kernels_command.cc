#include "worker/kernels_command.h"

#include <CLI/CLI.hpp>
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
#include "worker/kernels/library.h"

namespace telemetry {
namespace {

using record::Json;
using worker::ShortName;
using worker::kernels::DefaultProblem;
using worker::kernels::LibraryKernel;
using worker::kernels::NumberArgument;
using worker::kernels::Problem;
using worker::kernels::TensorSpec;

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
  for (const LibraryKernel* kernel : worker::kernels::AllKernels()) width = std::max(width, kernel->name.size());
  for (const LibraryKernel* kernel : worker::kernels::AllKernels()) {
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
Json ArrayOf(const Items& items, ToJson to_json) {
  Json array = Json::Array();
  for (const auto& item : items) array.items.push_back(to_json(item));
  return array;
}

Json DTypeJson(worker::DType dtype) { return Json::String(std::string(ShortName(dtype))); }

Json KernelJson(const LibraryKernel& kernel) {
  const Problem defaults = DefaultProblem(kernel);
  const Json tensors = ArrayOf(defaults.tensors, [](const TensorSpec& tensor) {
    return Object({{"name", Json::String(tensor.name)},
                   {"shape", ArrayOf(tensor.sizes, Json::Integer)},
                   {"dtype", DTypeJson(tensor.dtype)}});
  });
  const Json numbers = ArrayOf(kernel.numbers, [](const NumberArgument& number) {
    return Object({{"name", Json::String(number.name)},
                   {"constexpr", Json::Bool(number.is_flag)},
                   {"default", number.is_flag ? Json::Bool(number.default_value != 0)
                                              : Json::Number(absl::StrCat(number.default_value))}});
  });
  return Object({{"name", Json::String(kernel.name)},
                 {"summary", Json::String(kernel.summary)},
                 {"tensors", tensors},
                 {"numbers", numbers},
                 {"dtypes", ArrayOf(kernel.dtypes, DTypeJson)}});
}

}  // namespace

void AddKernelsCommand(CLI::App* app, int* exit_status) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app->add_subcommand("kernels", "List the kernel library with default arguments");
  command->footer(R"(Examples:
  telemetry-worker kernels           a table, with the arguments in the syntax of --arg
  telemetry-worker kernels --json    one JSON array

Exit status: 0 done; 2 wrong usage.)");
  command->add_flag("--json", *json, "Print a JSON array")->envname("TELEMETRY_WORKER_JSON");
  command->callback([json, exit_status] {
    if (*json) {
      const auto kernels = worker::kernels::AllKernels();
      std::cout << record::ToJson(ArrayOf(kernels, [](const LibraryKernel* kernel) { return KernelJson(*kernel); }))
                << "\n";
    } else {
      PrintTable();
    }
    *exit_status = 0;
  });
}

}  // namespace telemetry
