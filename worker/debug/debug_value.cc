#include "worker/debug/debug_value.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "proto/record/strings.h"

namespace telemetry::worker::debug {
namespace {

using device::DType;
using record::Cat;

// Formats a number with enough digits to distinguish any two f32 numbers.
std::string Digits(double value) {
  if (std::isnan(value)) return "nan";
  return absl::StrFormat("%.9g", value);
}

// Returns "none" if the value does not exist.
std::string DigitsOrNone(bool any, double value) { return any ? Digits(value) : "none"; }

std::string ElementText(DType dtype, double value) {
  if (dtype == DType::kBool) return value != 0 ? "true" : "false";
  return Digits(value);
}

}  // namespace

std::string StatisticsText(const TensorStatistics& statistics, DType dtype) {
  const bool any = statistics.finite() > 0;
  std::string text =
      Cat("mean=", DigitsOrNone(any, statistics.mean), " min=", DigitsOrNone(any, statistics.minimum),
          " max=", DigitsOrNone(any, statistics.maximum), " std=", DigitsOrNone(any, statistics.deviation),
          " nan=", statistics.nans, " inf=", statistics.infinities);
  if (IsFloat(dtype) && any && statistics.finite() < statistics.elements)
    text += " (mean, min, max, std of the finite elements)";
  return text;
}

std::string TensorText(const DebugValue& value, const TensorStatistics& statistics, absl::Span<const double> elements) {
  const runtime::Tensor& tensor = *value.tensor();
  std::string text = Cat("elements=", statistics.elements, " sizes=[", absl::StrJoin(tensor.sizes, ", "), "] strides=[",
                         absl::StrJoin(tensor.strides, ", "), "] dtype=", ShortName(tensor.dtype), " ",
                         StatisticsText(statistics, tensor.dtype));
  if (!value.buffer.empty() && value.buffer != value.name) text = Cat("buffer=", value.buffer, " ", text);
  if (statistics.elements > kMostShownElements) return text;
  const auto append = [&tensor](std::string* to, double element) { *to += ElementText(tensor.dtype, element); };
  return Cat(text, " values=[", absl::StrJoin(elements, ", ", append), "]");
}

std::string NumberText(const DebugValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value.value)) return Cat(*number, " (integer)");
  if (const auto* number = std::get_if<double>(&value.value)) return Cat(Digits(*number), " (float)");
  if (const auto* number = std::get_if<bool>(&value.value)) return *number ? "true (bool)" : "false (bool)";
  if (const auto* size = std::get_if<SymbolicSize>(&value.value)) return Cat(size->value, " (symbolic size)");
  return "";
}

}  // namespace telemetry::worker::debug
