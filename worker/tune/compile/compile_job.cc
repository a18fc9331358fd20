#include "worker/tune/compile/compile_job.h"

#include <utility>

#include "proto/record/ids.h"
#include "proto/record/strings.h"

namespace telemetry::worker::tune::compile {

namespace {

CompileJob JobFor(std::string source, const device::DeviceProperties& properties, const std::string& device) {
  const bool is_cuda = properties.dialect == device::Dialect::kCuda;
  return {
      .source = std::move(source), .dialect = properties.dialect, .target = is_cuda ? properties.architecture : device};
}

}  // namespace

CompileJob MakeJob(std::string source, const device::Device& device) {
  return JobFor(std::move(source), device.properties(), device.id());
}

CompileJob WarmUpJob(const device::DeviceProperties& properties) {
  const bool is_cuda = properties.dialect == device::Dialect::kCuda;
  return JobFor(is_cuda ? "extern \"C\" __global__ void warm_up(int* x) { *x = 1; }\n"
                        : "__kernel void warm_up(__global int* x) { *x = 1; }\n",
                properties, device::DeviceId(properties));
}

std::string JobKey(const CompileJob& job) {
  const std::string_view dialect = job.dialect == device::Dialect::kCuda ? "cuda" : "opencl";
  // The dialect and the target contain no zero byte, so the source begins after the second one.
  return record::Sha256(
      record::Cat(dialect, std::string_view("\0", 1), job.target, std::string_view("\0", 1), job.source));
}

}  // namespace telemetry::worker::tune::compile
