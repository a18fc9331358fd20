#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/kernels/library_kernel.h"

namespace telemetry::worker::kernels {
namespace {

using device::DType;

// A longer dimension is rejected as a typing mistake, because it fits no device.
constexpr int64_t kLongestDimension = int64_t{1} << 40;

absl::Status Refuse(const std::string& argument, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("argument \"", argument, "\": ", why));
}

// The parts of a problem that the arguments set.
struct Given {
  Sizes sizes;
  std::map<std::string, DType, std::less<>> dtypes;  // by tensor
  std::optional<DType> first_dtype;                  // of the first tensor that has a dtype but no fixed one
  Numbers numbers;
};

absl::Status ReadDType(const LibraryKernel& kernel, const TensorArgument& tensor, const std::string& argument,
                       const std::string& text, Given* given) {
  absl::StatusOr<DType> dtype = device::ParseDType(text);
  if (!dtype.ok()) return Refuse(argument, std::string(dtype.status().message()));
  const std::vector<DType> allowed = tensor.dtype ? std::vector<DType>{*tensor.dtype} : kernel.dtypes;
  if (std::find(allowed.begin(), allowed.end(), *dtype) == allowed.end()) {
    return Refuse(argument,
                  absl::StrCat(tensor.name, " may be ", absl::StrJoin(allowed, ", ", [](std::string* out, DType one) {
                                 out->append(ShortName(one));
                               })));
  }
  given->dtypes[tensor.name] = *dtype;
  if (!tensor.dtype && !given->first_dtype) given->first_dtype = *dtype;
  return absl::OkStatus();
}

absl::Status ReadShape(const TensorArgument& tensor, const std::string& argument, const std::string& text,
                       Given* given) {
  const std::vector<std::string> sizes = absl::StrSplit(text, 'x');
  if (sizes.size() != tensor.dimensions.size()) {
    return Refuse(
        argument,
        absl::StrCat(
            "the shape of ", tensor.name, " is ", absl::StrJoin(tensor.dimensions, "x"), ", as in ", tensor.name, "=",
            absl::StrJoin(tensor.dimensions, "x", [](std::string* out, const std::string&) { out->append("128"); })));
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t size = 0;
    if (!absl::SimpleAtoi(sizes[i], &size) || size < 1 || size > kLongestDimension) {
      return Refuse(argument, absl::StrCat("\"", sizes[i], "\" is not a size of at least 1"));
    }
    const auto [known, is_new] = given->sizes.emplace(tensor.dimensions[i], size);
    if (!is_new && known->second != size) {
      return Refuse(argument,
                    absl::StrCat("dimension ", known->first, " is ", size, " here but ", known->second, " before"));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadTensor(const LibraryKernel& kernel, const TensorArgument& tensor, const std::string& argument,
                        const std::string& value, Given* given) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(value, absl::MaxSplits(':', 1));
  RETURN_IF_ERROR(ReadShape(tensor, argument, parts.first, given));
  if (value.find(':') == std::string::npos) return absl::OkStatus();
  return ReadDType(kernel, tensor, argument, parts.second, given);
}

absl::Status ReadNumber(const NumberArgument& number, const std::string& argument, const std::string& value,
                        Given* given) {
  bool flag = false;
  double parsed = 0;
  if (number.is_flag) {
    if (!absl::SimpleAtob(value, &flag)) return Refuse(argument, number.name + " is true or false");
    parsed = flag ? 1 : 0;
  } else if (!absl::SimpleAtod(value, &parsed)) {
    return Refuse(argument, number.name + " is a number");
  }
  given->numbers[number.name] = parsed;
  return absl::OkStatus();
}

std::string ArgumentNames(const LibraryKernel& kernel) {
  std::vector<std::string> names;
  for (const TensorArgument& tensor : kernel.tensors) names.push_back(tensor.name);
  for (const NumberArgument& number : kernel.numbers) names.push_back(number.name);
  return absl::StrJoin(names, ", ");
}

absl::Status ReadArgument(const LibraryKernel& kernel, const std::string& argument, Given* given) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(argument, absl::MaxSplits('=', 1));
  for (const TensorArgument& tensor : kernel.tensors) {
    if (tensor.name == parts.first) return ReadTensor(kernel, tensor, argument, parts.second, given);
  }
  for (const NumberArgument& number : kernel.numbers) {
    if (number.name == parts.first) return ReadNumber(number, argument, parts.second, given);
  }
  return Refuse(argument,
                absl::StrCat(kernel.name, " has no argument \"", parts.first, "\"; it has: ", ArgumentNames(kernel)));
}

}  // namespace

absl::StatusOr<Problem> ParseProblem(const LibraryKernel& kernel, absl::Span<const std::string> arguments) {
  Given given;
  for (const std::string& argument : arguments) {
    RETURN_IF_ERROR(ReadArgument(kernel, argument, &given));
  }
  Problem problem = MakeProblem(kernel, given.first_dtype.value_or(kernel.default_dtype), given.sizes, given.numbers);
  for (TensorSpec& tensor : problem.tensors) {
    const auto dtype = given.dtypes.find(tensor.name);
    if (dtype != given.dtypes.end()) tensor.dtype = dtype->second;
  }
  return problem;
}

}  // namespace telemetry::worker::kernels
