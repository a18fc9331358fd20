#include "worker/wrapper/kernel_for.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "proto/record/counted.h"
#include "proto/record/strings.h"
#include "worker/kernels/trace_problem.h"

namespace telemetry::worker::wrapper {

using device::DType;
using record::Cat;

namespace {

// A builder of the problem of a call from its tensors and numbers.
class ProblemMaker {
 public:
  explicit ProblemMaker(const kernels::LibraryKernel& kernel) : kernel_(kernel) {}

  absl::StatusOr<kernels::Problem> Make(absl::Span<const PlanBuffer> arguments, const kernels::Numbers& numbers) {
    if (arguments.size() != kernel_.tensors.size()) {
      return absl::InvalidArgumentError(Cat("kernel '", kernel_.name, "' takes ", kernel_.tensors.size(),
                                            " tensors, but ", arguments.size(), " are given"));
    }
    for (size_t i = 0; i < arguments.size(); ++i) {
      RETURN_IF_ERROR(AddTensor(kernel_.tensors[i], arguments[i]));
    }
    for (const kernels::NumberArgument& number : kernel_.numbers) {
      problem_.numbers[number.name] = number.default_value;
    }
    for (const auto& [name, value] : numbers) {
      const auto known = problem_.numbers.find(name);
      if (known == problem_.numbers.end()) {
        return absl::InvalidArgumentError(
            Cat("kernel '", kernel_.name, "' has no number '", name, "', given as ", value));
      }
      known->second = value;
    }
    // Adds the dimensions that no tensor has.
    problem_.sizes.insert(kernel_.default_sizes.begin(), kernel_.default_sizes.end());
    return std::move(problem_);
  }

 private:
  absl::Status Refuse(const kernels::TensorArgument& argument, const PlanBuffer& given, std::string_view why) const {
    return absl::InvalidArgumentError(Cat("kernel '", kernel_.name, "', argument '", argument.name, "': buffer '",
                                          given.name, "' is ", given.LayoutText(), ", but ", why));
  }

  absl::Status AddTensor(const kernels::TensorArgument& argument, const PlanBuffer& given) {
    std::vector<DType> allowed = kernel_.dtypes;
    if (argument.dtype.has_value()) allowed = {*argument.dtype};
    if (std::find(allowed.begin(), allowed.end(), given.dtype) == allowed.end()) {
      std::vector<std::string> names;
      for (const DType dtype : allowed) names.emplace_back(ShortName(dtype));
      return Refuse(argument, given, Cat("the dtype has to be ", absl::StrJoin(names, " or ")));
    }
    if (given.sizes.size() != argument.dimensions.size()) {
      return Refuse(argument, given,
                    Cat("the argument has ", record::Counted(argument.dimensions.size(), "dimension"), ": ",
                        absl::StrJoin(argument.dimensions, ", ")));
    }
    for (size_t i = 0; i < given.sizes.size(); ++i) {
      const std::string& dimension = argument.dimensions[i];
      const auto [known, is_new] = problem_.sizes.emplace(dimension, given.sizes[i]);
      if (!is_new && known->second != given.sizes[i]) {
        return Refuse(
            argument, given,
            Cat(dimension, " is ", known->second, " in argument '", first_with_[dimension], "', not ", given.sizes[i]));
      }
      first_with_.emplace(dimension, argument.name);
    }
    problem_.tensors.push_back({.name = argument.name, .sizes = given.sizes, .dtype = given.dtype});
    return absl::OkStatus();
  }

  const kernels::LibraryKernel& kernel_;
  kernels::Problem problem_;
  std::map<std::string, std::string> first_with_;  // by dimension: the argument that gave it its size
};

}  // namespace

absl::StatusOr<PlanKernel> KernelFor(const kernels::LibraryKernel& kernel, absl::Span<const PlanBuffer> arguments,
                                     const kernels::Numbers& numbers) {
  ASSIGN_OR_RETURN(kernels::Problem problem, ProblemMaker(kernel).Make(arguments, numbers));
  ASSIGN_OR_RETURN(ir::DeviceIr ir, kernels::TraceProblem(kernel, problem));
  return PlanKernel{.library = &kernel, .problem = std::move(problem), .outputs = kernels::ListOutputs(ir)};
}

}  // namespace telemetry::worker::wrapper
