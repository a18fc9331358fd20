#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "worker/device/device.h"
#include "worker/tune/measure/measurer.h"

namespace telemetry::worker::tune {

// Measures kernels that double the numbers of `x` into `out`, or fail to, on the device that TELEMETRY_TEST_DEVICE
// names ("opencl:0" without it), in real processes of this program. Bodies are written once, in words for both
// dialects; one thread is at element `i`, and there are `kNumbers` of them.
class MeasureTest : public testing::Test {
 protected:
  static constexpr int kNumbers = 1000;

  static std::string DeviceName();
  static bool IsCuda() { return DeviceName().substr(0, 4) == "cuda"; }

  // x = 1, 2, 3..., and as many more data sets with other numbers as are asked for.
  static MeasureProblem DoublingProblem(int data_sets = 1);
  static BufferData Numbers(const std::vector<float>& values);

  void SetUp() override { Start(DoublingProblem()); }
  // The device of `options` is the fixture's.
  void Start(const MeasureProblem& problem, MeasurerOptions options = {});

  // The kernel `void kernel(GLOBAL float* x, GLOBAL float* out)` with that body, and these parameters behind them.
  MeasureRequest RequestFor(const std::string& body, const std::string& more_parameters = "");
  MeasureOutcome Measure(const MeasureRequest& request);
  MeasureOutcome Measure(const std::string& body) { return Measure(RequestFor(body)); }

  // The failure of a config that has to have one.
  MeasureFailure FailureOf(const MeasureRequest& request);
  MeasureFailure FailureOf(const std::string& body) { return FailureOf(RequestFor(body)); }

  void ExpectThatTheNextIsMeasuredRight();

  static constexpr char kRight[] = "out[i] = 2.0f * x[i];";

  std::shared_ptr<Device> compiler_;  // of this process; only compiles
  std::unique_ptr<Measurer> measurer_;
};

}  // namespace telemetry::worker::tune
