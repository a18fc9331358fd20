#include "worker/spec/read_verification.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/spec/read_arguments.h"
#include "worker/spec/read_launch.h"

namespace telemetry::worker::spec {
namespace {

using record::Cat;

absl::Status ReadTolerance(const JsonMember& member, double* to) {
  if (!member.exists()) return absl::OkStatus();
  ASSIGN_OR_RETURN(*to, member.Number());
  return *to >= 0 ? absl::OkStatus() : member.Error("a tolerance is not negative");
}

// Reads the config of a reference: values by parameter. Parameters that it does not name have their defaults.
absl::Status ReadConfig(const JsonMember& member, Specification* spec) {
  spec->verification.config = spec->DefaultConfig();
  if (!member.exists()) return absl::OkStatus();
  RETURN_IF_ERROR(member.CheckObject());
  for (const auto& [name, json] : member.json().members) {
    const auto parameter = std::find_if(spec->parameters.begin(), spec->parameters.end(),
                                        [name = &name](const Parameter& known) { return known.name == *name; });
    if (parameter == spec->parameters.end()) return member[name].Error("there is no such parameter");
    const absl::StatusOr<Value> value = spec->arena->FromJson(json);
    if (!value.ok()) return member[name].At(value.status());
    const auto found = std::find_if(parameter->values.begin(), parameter->values.end(),
                                    [&](const Value& other) { return other.Equals(*value); });
    if (found == parameter->values.end())
      return member[name].Error(Cat(value->ToString(), " is not one of the values"));
    spec->verification.config[static_cast<size_t>(parameter - spec->parameters.begin())] =
        static_cast<size_t>(found - parameter->values.begin());
  }
  return absl::OkStatus();
}

absl::Status ReadReferenceKernel(const JsonMember& member, Specification* spec) {
  Verification& verification = spec->verification;
  verification.kernel_file = spec->kernel_file;
  if (member["KernelFile"].exists()) {
    ASSIGN_OR_RETURN(verification.kernel_file, member["KernelFile"].Text());
  }
  ASSIGN_OR_RETURN(verification.kernel_name, member["KernelName"].Text());
  ASSIGN_OR_RETURN(verification.launch, ReadLaunch(member, *spec));
  return absl::OkStatus();
}

absl::Status ReadMethod(const JsonMember& member, Specification* spec) {
  RETURN_IF_ERROR(member.CheckObject());
  RETURN_IF_ERROR(ReadTolerance(member["AbsoluteTolerance"], &spec->verification.tolerances.absolute));
  RETURN_IF_ERROR(ReadTolerance(member["RelativeTolerance"], &spec->verification.tolerances.relative));
  RETURN_IF_ERROR(ReadConfig(member["Config"], spec));
  std::string method = "ReferenceConfig";
  if (member["Method"].exists()) {
    ASSIGN_OR_RETURN(method, member["Method"].Text());
  }
  if (method == "None") {
    spec->verification.kind = Verification::Kind::kNone;
  } else if (method == "ReferenceConfig") {
    spec->verification.kind = Verification::Kind::kReferenceConfig;
  } else if (method == "ReferenceKernel") {
    spec->verification.kind = Verification::Kind::kReferenceKernel;
    return ReadReferenceKernel(member, spec);
  } else if (method == "Files") {
    if (spec->verification.expected.empty()) return member["Method"].Error("there are no ReferenceArguments");
    spec->verification.kind = Verification::Kind::kFiles;
  } else {
    return member["Method"].Error(
        Cat("unknown method '", method, "'; known are None, ReferenceConfig, ReferenceKernel and Files"));
  }
  return absl::OkStatus();
}

// T1's threshold is an absolute difference, or a relative one.
absl::StatusOr<std::optional<Tolerances>> ReadThreshold(const JsonMember& member) {
  if (!member["ValidationThreshold"].exists()) return std::nullopt;
  double threshold = 0;
  RETURN_IF_ERROR(ReadTolerance(member["ValidationThreshold"], &threshold));
  std::string method = "SideBySideComparison";
  if (member["ValidationMethod"].exists()) {
    ASSIGN_OR_RETURN(method, member["ValidationMethod"].Text());
  }
  if (method == "SideBySideComparison") return Tolerances{.absolute = threshold, .relative = 0};
  if (method == "SideBySideRelativeComparison") return Tolerances{.absolute = 0, .relative = threshold};
  if (method == "AbsoluteDifference") {
    return member["ValidationMethod"].Unsupported(
        "the sum of all differences is not supported; use SideBySideComparison");
  }
  return member["ValidationMethod"].Error(Cat("unknown method '", method, "'"));
}

absl::Status ReadExpected(const JsonMember& member, Specification* spec) {
  ASSIGN_OR_RETURN(const std::vector<JsonMember> items, member.Items());
  for (const JsonMember& item : items) {
    ASSIGN_OR_RETURN(const std::string target, item["TargetName"].Text());
    const auto argument = std::find_if(spec->arguments.begin(), spec->arguments.end(),
                                       [&](const Argument& known) { return known.name == target; });
    if (argument == spec->arguments.end()) return item["TargetName"].Error(Cat("there is no argument '", target, "'"));
    if (!argument->is_written) return item["TargetName"].Error(Cat("the kernel does not write '", target, "'"));
    Verification::Expected expected;
    expected.argument = static_cast<size_t>(argument - spec->arguments.begin());
    ASSIGN_OR_RETURN(expected.fill, ReadFill(item, spec->arena.get()));
    ASSIGN_OR_RETURN(expected.tolerances, ReadThreshold(item));
    spec->verification.expected.push_back(std::move(expected));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadVerification(const JsonMember& kernel, Specification* spec) {
  spec->verification.config = spec->DefaultConfig();
  RETURN_IF_ERROR(ReadExpected(kernel["ReferenceArguments"], spec));
  if (!spec->verification.expected.empty()) spec->verification.kind = Verification::Kind::kFiles;
  if (!kernel["Verification"].exists()) return absl::OkStatus();
  return ReadMethod(kernel["Verification"], spec);
}

}  // namespace telemetry::worker::spec
