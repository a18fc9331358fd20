#include "worker/tune/attempt_description.h"

#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "proto/record/sidecar/ir_record.h"
#include "spdlog/spdlog.h"
#include "worker/ir/graph_record/ir_graph_record.h"
#include "worker/tune/recording/environment.h"

namespace telemetry::worker::tune {
namespace {

using record::Json;
using runtime::BoundKernel;

Json DeviceJson(const device::DeviceProperties& device) {
  Json object = Json::Object();
  object.members = {{"name", Json::String(device.name)},
                    {"architecture", Json::String(device.architecture)},
                    {"driver_version", Json::String(device.driver_version)},
                    {"runtime_version", Json::String(device.runtime_version)},
                    {"compute_units", Json::Integer(device.compute_units)},
                    {"global_bytes", Json::Integer(static_cast<int64_t>(device.global_bytes))},
                    {"l2_bytes", Json::Integer(static_cast<int64_t>(device.l2_bytes))},
                    {"clock_khz", Json::Integer(device.clock_khz)},
                    {"memory_clock_khz", Json::Integer(device.memory_clock_khz)},
                    {"memory_bus_bits", Json::Integer(device.memory_bus_bits)}};
  return object;
}

absl::StatusOr<v1::IrGraph> MakeIrGraph(const BoundKernel& kernel, const v1::Run& run) {
  const Json record = ir::graph_record::ExtractIrGraph(
      kernel.ir(), {.run_id = run.run_id(),
                    .kernel_id = run.kernel_id(),
                    .kernel_name = run.kernel_name(),
                    .input_shapes = run.input_shapes(),
                    .device = kernel.device()->id(),
                    .on_warning = [](const std::string& warning) { spdlog::warn("{}", warning); }});
  return record::sidecar::ParseIrRecord(record);
}

}  // namespace

recording::AttemptInfo DescribeAttempt(const device::DeviceProperties& device, v1::Run run) {
  return {.attempt_id = recording::NewAttemptId(),
          .run = std::move(run),
          .environment = recording::Environment(DeviceJson(device)),
          .started = absl::FromUnixMicros(absl::ToUnixMicros(absl::Now()))};
}

recording::AttemptInfo DescribeAttempt(const BoundKernel& kernel, v1::Run run) {
  recording::AttemptInfo info = DescribeAttempt(kernel.device()->properties(), std::move(run));
  absl::StatusOr<v1::IrGraph> graph = MakeIrGraph(kernel, info.run);
  if (graph.ok()) {
    info.ir_graph = *std::move(graph);
  } else {
    spdlog::warn("{}: no IR graph: {}", kernel.name(), std::string(graph.status().message()));
  }
  return info;
}

}  // namespace telemetry::worker::tune
