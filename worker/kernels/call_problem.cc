#include "worker/kernels/call_problem.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "proto/record/counted.h"
#include "proto/record/strings.h"

namespace telemetry::worker::kernels {
namespace {

using device::DType;
using record::Cat;

// A builder of the problem of a call from its tensors and numbers.
class ProblemMaker {
 public:
  ProblemMaker(const LibraryKernel& kernel, absl::FunctionRef<std::string(size_t)> describe)
      : kernel_(kernel), describe_(describe) {}

  absl::StatusOr<Problem> Make(absl::Span<const GivenTensor> tensors, const Numbers& numbers) {
    if (tensors.size() != kernel_.tensors.size()) {
      return absl::InvalidArgumentError(Cat("kernel '", kernel_.name, "' takes ", kernel_.tensors.size(),
                                            " tensors, but ", tensors.size(), " are given"));
    }
    for (size_t i = 0; i < tensors.size(); ++i) {
      RETURN_IF_ERROR(AddTensor(i, tensors[i]));
    }
    for (const NumberArgument& number : kernel_.numbers) problem_.numbers[number.name] = number.default_value;
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
  absl::Status Refuse(size_t index, std::string_view why) const {
    return absl::InvalidArgumentError(Cat("kernel '", kernel_.name, "', argument '", kernel_.tensors[index].name,
                                          "': ", describe_(index), ", but ", why));
  }

  absl::Status AddTensor(size_t index, const GivenTensor& given) {
    const TensorArgument& argument = kernel_.tensors[index];
    std::vector<DType> allowed = kernel_.dtypes;
    if (argument.dtype.has_value()) allowed = {*argument.dtype};
    if (std::find(allowed.begin(), allowed.end(), given.dtype) == allowed.end()) {
      std::vector<std::string> names;
      for (const DType dtype : allowed) names.emplace_back(ShortName(dtype));
      return Refuse(index, Cat("the dtype has to be ", absl::StrJoin(names, " or ")));
    }
    if (given.sizes.size() != argument.dimensions.size()) {
      return Refuse(index, Cat("the argument has ", record::Counted(argument.dimensions.size(), "dimension"), ": ",
                               absl::StrJoin(argument.dimensions, ", ")));
    }
    for (size_t i = 0; i < given.sizes.size(); ++i) {
      const std::string& dimension = argument.dimensions[i];
      const auto [known, is_new] = problem_.sizes.emplace(dimension, given.sizes[i]);
      if (!is_new && known->second != given.sizes[i]) {
        return Refuse(index, Cat(dimension, " is ", known->second, " in argument '", first_with_[dimension], "', not ",
                                 given.sizes[i]));
      }
      first_with_.emplace(dimension, argument.name);
    }
    problem_.tensors.push_back(
        {.name = argument.name, .sizes = {given.sizes.begin(), given.sizes.end()}, .dtype = given.dtype});
    return absl::OkStatus();
  }

  const LibraryKernel& kernel_;
  const absl::FunctionRef<std::string(size_t)> describe_;
  Problem problem_;
  std::map<std::string, std::string> first_with_;  // by dimension: the argument that gave it its size
};

}  // namespace

absl::StatusOr<Problem> ProblemOfCall(const LibraryKernel& kernel, absl::Span<const GivenTensor> tensors,
                                      const Numbers& numbers, absl::FunctionRef<std::string(size_t)> describe) {
  return ProblemMaker(kernel, describe).Make(tensors, numbers);
}

}  // namespace telemetry::worker::kernels
