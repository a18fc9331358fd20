#include "worker/wrapper/source_kernel.h"

#include <algorithm>

#include "proto/record/strings.h"

namespace telemetry::worker::wrapper {

using record::Cat;

bool SourceKernel::changes_what_it_reads() const {
  return std::any_of(outputs.begin(), outputs.end(), [](const SourceTensor& output) { return output.is_read; });
}

std::string_view LanguageName(device::Dialect dialect) { return dialect == device::Dialect::kCuda ? "CUDA" : "OpenCL"; }

std::string WhyNotPassed(const SourceTensor& tensor, const PlanBuffer& buffer) {
  const bool fits = buffer.dtype == tensor.dtype && buffer.is_dense() && buffer.span() == tensor.elements;
  if (fits) return "";
  return Cat("buffer '", buffer.name, "' is ", buffer.LayoutText(), ", but '", tensor.name, "' has ", tensor.elements,
             " elements of ", ShortName(tensor.dtype), ", dense");
}

}  // namespace telemetry::worker::wrapper
