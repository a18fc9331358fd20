#include "worker/debug/nan_watch.h"

#include "proto/record/strings.h"

namespace telemetry::worker::debug {

using record::Cat;

std::string FirstNan::ToString() const {
  const std::string what =
      Cat("the first tensor with a NaN is '", tensor, "' (", nans, " of ", elements, " elements), ");
  return kernel.empty() ? what + "an input of the program" : Cat(what, "made by kernel '", kernel, "'");
}

void NanWatch::Begin() {
  makers_.clear();
  first_.reset();
}

bool NanWatch::See(const DebugValue& value, const TensorStatistics& statistics, std::string_view made_by) {
  if (first_.has_value() || statistics.nans == 0) return false;
  if (made_by.empty() && value.is_output) return false;
  std::string kernel(made_by);
  // If the launch has run (`made_by` is set), it wrote the NaN, because its arguments were inspected before it and had
  // none. Otherwise the NaN comes from the last kernel that wrote the memory.
  if (const auto maker = makers_.find(value.memory_name()); made_by.empty() && maker != makers_.end()) {
    kernel = maker->second;
  }
  first_ = {.tensor = value.buffer_name(),
            .kernel = std::move(kernel),
            .nans = statistics.nans,
            .elements = statistics.elements};
  return true;
}

}  // namespace telemetry::worker::debug
