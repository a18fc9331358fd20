#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "worker/device/device.h"
#include "worker/tune/measure/measurer.h"

namespace telemetry::worker::tune::measure {

// Returns the running processes that `parent` has started.
std::vector<pid_t> ListChildren(pid_t parent);

// Measures kernels that double the numbers of `x` into `out`, or fail to do so, on the device in TELEMETRY_TEST_DEVICE
// ("opencl:0" if it is not set), in real processes of this program. Each kernel body is written once, with macros for
// both dialects. One thread handles element `i`; there are `kNumbers` threads.
class MeasureTest : public testing::Test {
 protected:
  static constexpr int kNumbers = 1000;

  static std::string DeviceName();
  static bool IsCuda() { return DeviceName().substr(0, 4) == "cuda"; }

  // Returns the problem with x = 1, 2, 3... in the first data set and other numbers in the others.
  static MeasureProblem DoublingProblem(int data_sets = 1);
  static BufferData Numbers(const std::vector<float>& values);

  void SetUp() override { Start(DoublingProblem()); }
  // `options.device` is replaced by the fixture's device.
  void Start(const MeasureProblem& problem, MeasurerOptions options = {});

  // Compiles `void kernel(GLOBAL float* x, GLOBAL float* out)` with this body and additional parameters.
  MeasureRequest RequestFor(const std::string& body, const std::string& more_parameters = "");
  wire::Outcome Measure(const MeasureRequest& request);
  wire::Outcome Measure(const std::string& body) { return Measure(RequestFor(body)); }

  // Returns the failure of a config that must fail.
  wire::Failure ExpectFailure(const MeasureRequest& request);
  wire::Failure ExpectFailure(const std::string& body) { return ExpectFailure(RequestFor(body)); }

  void ExpectThatTheNextIsMeasuredRight();

  static constexpr char kRight[] = "out[i] = 2.0f * x[i];";

  std::shared_ptr<device::Device> compiler_;  // in this process; only compiles
  std::unique_ptr<Measurer> measurer_;
};

}  // namespace telemetry::worker::tune::measure
