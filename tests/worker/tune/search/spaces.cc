#include "tests/worker/tune/search/spaces.h"

#include <cstdlib>

#include "worker/ir/trace.h"
#include "worker/kernels/library.h"
#include "worker/kernels/trace_problem.h"

namespace telemetry::worker::tune::search {
namespace {

codegen::ConfigSpace TracedSpace(const kernels::LibraryKernel& kernel, const kernels::Problem& problem) {
  const absl::StatusOr<ir::DeviceIr> device_ir = kernels::TraceProblem(kernel, problem);
  if (!device_ir.ok()) std::abort();
  return codegen::ConfigSpaceFor(*device_ir);
}

}  // namespace

const std::vector<NamedSpace>& LibrarySpaces() {
  static const auto* const spaces = [] {
    auto* const all = new std::vector<NamedSpace>;
    for (const kernels::LibraryKernel* kernel : kernels::AllKernels()) {
      // Rows of products do not begin at multiples of 16 bytes here, so that no space has producer_warp. The ranges of
      // the other parameters are the same.
      kernels::LibraryKernel odd = *kernel;
      for (const char* dimension : {"k", "n"}) {
        const auto size = odd.default_sizes.find(dimension);
        if (kernel->default_sizes.count("k") > 0 && size != odd.default_sizes.end()) size->second -= 4;
      }
      all->push_back({kernel->name, TracedSpace(odd, kernels::DefaultProblem(odd))});
    }
    return all;
  }();
  return *spaces;
}

const codegen::ConfigSpace& LibraryConfigSpace(const std::string& kernel) {
  for (const NamedSpace& named : LibrarySpaces()) {
    if (named.name == kernel) return named.space;
  }
  std::abort();
}

const codegen::ConfigSpace& TinySpace() {
  static const auto* const space = [] {
    const kernels::LibraryKernel zeros = {
        .name = "zeros", .tensors = {{"x", {"n"}}}, .default_sizes = {{"n", 16}}, .body = [](ir::Trace& t) {
          const ir::TensorRef x = t.Tensor("x");
          const ir::AxisRef n = t.Tile(t.SizeOf(x, 0), 16);
          t.Store(t.OutputLike("out", x), {n}, t.Full({n}, 0, device::DType::kF32));
          return absl::OkStatus();
        }};
    return new codegen::ConfigSpace(TracedSpace(zeros, kernels::DefaultProblem(zeros)));
  }();
  return *space;
}

}  // namespace telemetry::worker::tune::search
