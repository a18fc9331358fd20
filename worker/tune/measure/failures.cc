#include "worker/tune/measure/failures.h"

#include <cctype>
#include <initializer_list>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "proto/record/strings.h"

namespace telemetry::worker::tune::measure {
namespace {

bool IsNameCharacter(char c) {
  return std::isupper(static_cast<unsigned char>(c)) != 0 || std::isdigit(static_cast<unsigned char>(c)) != 0 ||
         c == '_';
}

// Returns the error's name in the driver's message, such as "CUDA_ERROR_ILLEGAL_ADDRESS"; "" if there is none.
std::string_view DriverError(std::string_view message) {
  for (const std::string_view prefix : {"CUDA_ERROR_", "CL_"}) {
    const size_t begin = message.find(prefix);
    if (begin == std::string_view::npos) continue;
    size_t end = begin;
    while (end < message.size() && IsNameCharacter(message[end])) ++end;
    return message.substr(begin, end - begin);
  }
  return {};
}

// "ILLEGAL_ADDRESS" becomes "IllegalAddress".
std::string InCamelCase(std::string_view name) {
  std::string text;
  for (const auto& word : absl::StrSplit(record::AbslView(name), '_', absl::SkipEmpty())) {
    std::string lower = absl::AsciiStrToLower(word);
    lower[0] = absl::ascii_toupper(static_cast<unsigned char>(lower[0]));
    text += lower;
  }
  return text;
}

std::string ClassOfDriverError(std::string_view error) {
  if (error == "CUDA_ERROR_OUT_OF_MEMORY" || error == "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES" ||
      error == "CL_OUT_OF_RESOURCES") {
    return "OutOfResources";
  }
  if (!record::TakePrefix("CUDA_ERROR_", &error)) record::TakePrefix("CL_", &error);
  return InCamelCase(error);
}

std::string ClassOfStatus(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return "InvalidLaunch";
    case absl::StatusCode::kResourceExhausted:
      return "OutOfResources";
    default:
      return InCamelCase(absl::StatusCodeToString(status.code()));
  }
}

}  // namespace

wire::Failure MakeFailure(std::string_view phase, const absl::Status& status) {
  const std::string message(status.message());
  const std::string_view error = DriverError(message);
  wire::Failure failure;
  failure.set_phase(std::string(phase));
  failure.set_error_class(error.empty() ? ClassOfStatus(status) : ClassOfDriverError(error));
  failure.set_code(error.empty() ? absl::StatusCodeToString(status.code()) : std::string(error));
  failure.set_message(message);
  return failure;
}

wire::Failure CheckFailure(std::string_view error_class, std::string_view code, std::string message) {
  wire::Failure failure;
  failure.set_phase(kCheckPhase);
  failure.set_error_class(std::string(error_class));
  failure.set_code(std::string(code));
  failure.set_message(std::move(message));
  return failure;
}

std::string DescribeMismatch(const wire::Check& check) {
  return record::Cat(check.mismatches(), " results beyond the tolerance; the first is '", check.output(), "'[",
                     absl::StrJoin(check.first_index(), ", "), "]: expected ", check.expected(), ", got ",
                     check.actual(), "; worst absolute error ", check.worst_absolute(), ", relative ",
                     check.worst_relative());
}

}  // namespace telemetry::worker::tune::measure
