// Tests kernels on a real device: the first OpenCL device, which is PoCL if there is no other.

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/worker/runtime/test_kernels.h"
#include "worker/device/device.h"
#include "worker/device/open_device.h"
#include "worker/ir/compare.h"

namespace telemetry::worker::runtime {
namespace {

using device::Device;
using device::DType;

absl::Status Softmax(ir::Trace& trace) {
  const ir::TensorRef x = trace.Tensor("x");
  const ir::TensorRef out = trace.OutputLike("out", x);
  const ir::AxisRef m = trace.Tile(trace.SizeOf(x, 0));
  const ir::AxisRef n = trace.ReductionAxis(trace.SizeOf(x, 1));
  const ir::Value value = trace.Load(x, {m, n});
  const ir::Value powers = exp(value - trace.AMax(value, n));
  trace.Store(out, {m, n}, powers / trace.Sum(powers, n));
  return absl::OkStatus();
}

ir::HostArray Waves(std::vector<int64_t> sizes, std::vector<int64_t> strides) {
  ir::HostArray array = ir::HostArray::Strided(DType::kF32, std::move(sizes), std::move(strides));
  std::vector<double> values(static_cast<size_t>(array.element_count()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = 3 * std::sin(static_cast<double>(i));
  array.SetRowMajor(values);
  return array;
}

// Computes out[m, n] = mask[m] ? table[at[m], n] : -1. missed[m] is true without the mask, or for the table's first
// row.
absl::Status PickRows(ir::Trace& trace) {
  const ir::TensorRef at = trace.Tensor("at");
  const ir::TensorRef table = trace.Tensor("table");
  const ir::TensorRef out = trace.Output("out", {trace.SizeOf(at, 0), trace.SizeOf(table, 1)}, DType::kF32);
  const ir::TensorRef missed = trace.Output("missed", {trace.SizeOf(at, 0)}, DType::kBool);
  const ir::AxisRef m = trace.Tile(trace.SizeOf(at, 0));
  const ir::AxisRef n = trace.Tile(trace.SizeOf(table, 1));
  const ir::Value mask = trace.Load(trace.Tensor("mask"), {m});
  const ir::Value row = trace.Load(at, {m});
  trace.Store(out, {m, n}, trace.Where(mask, trace.Load(table, {row, n}), -1));
  trace.Store(missed, {m}, !mask || row == 0);
  return absl::OkStatus();
}

ir::HostArray Cycle(DType dtype, int64_t count, int64_t step, int64_t below) {
  ir::HostArray array = ir::HostArray::Dense(dtype, {count});
  for (int64_t i = 0; i < count; ++i) array.data[static_cast<size_t>(i)] = static_cast<double>(i * step % below);
  return array;
}

class DeviceRunTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    absl::StatusOr<std::shared_ptr<Device>> device = device::OpenDevice("opencl:0");
    ASSERT_TRUE(device.ok()) << device.status();
    device_ = *std::move(device);
  }
  std::unique_ptr<Kernel> With(KernelSpec spec, bool reference) {
    spec.settings = Settings{.static_shapes = GetParam(), .use_default_config = true, .reference_mode = reference};
    return MakeKernel(std::move(spec));
  }
  std::unique_ptr<Kernel> SoftmaxKernel(bool reference) {
    return With({.name = "softmax", .parameters = {{.name = "x"}}, .body = Softmax}, reference);
  }

  // Checks that a kernel of tensors gives the same results on the device as in the reference on the host.
  void ExpectReferenceResults(const KernelSpec& spec, const std::vector<ir::HostArray>& arrays) {
    Arguments on_host;
    Arguments on_device;
    for (const ir::HostArray& array : arrays) {
      on_host.push_back(Tensor::OnHost(array));
      on_device.push_back(*ToDevice(device_, array));
    }
    const absl::StatusOr<std::vector<Tensor>> expected = With(spec, true)->Run(on_host);
    ASSERT_TRUE(expected.ok()) << expected.status();
    const absl::StatusOr<std::vector<Tensor>> actual = With(spec, false)->Run(on_device);
    ASSERT_TRUE(actual.ok()) << actual.status();
    ASSERT_EQ(actual->size(), expected->size());
    for (size_t i = 0; i < actual->size(); ++i) {
      const ir::HostArray& wanted = *expected->at(i).host;
      const ir::Comparison comparison = ir::Compare(wanted, *ToHost(actual->at(i)), ir::ToleranceFor(wanted.dtype));
      EXPECT_TRUE(comparison.ok()) << "output " << i << ": " << comparison.ToString();
    }
  }

  std::shared_ptr<Device> device_;
};

TEST_P(DeviceRunTest, AgreesWithReferenceMode) {
  const auto kernel = SoftmaxKernel(false);
  const auto reference = SoftmaxKernel(true);
  for (const ir::HostArray& x : {Waves({5, 33}, {33, 1}), Waves({7, 100}, {100, 1}), Waves({5, 33}, {1, 5}),
                                 Waves({1, 1}, {1, 1}), Waves({4, 16}, {40, 2})}) {
    const std::vector<Tensor> expected = *reference->Run({Tensor::OnHost(x)});
    const absl::StatusOr<std::vector<Tensor>> actual = kernel->Run({*ToDevice(device_, x)});
    ASSERT_TRUE(actual.ok()) << actual.status();
    const ir::Comparison comparison =
        ir::Compare(*expected[0].host, *ToHost(actual->at(0)), ir::ToleranceFor(DType::kF32));
    EXPECT_TRUE(comparison.ok()) << comparison.ToString();
  }
}

TEST_P(DeviceRunTest, TakesBooleansAndIndicesAndGivesBooleans) {
  const KernelSpec spec = {
      .name = "pick_rows", .parameters = {{.name = "mask"}, {.name = "at"}, {.name = "table"}}, .body = PickRows};
  for (const ir::HostArray& table : {Waves({11, 20}, {20, 1}), Waves({11, 20}, {1, 11}), Waves({11, 20}, {50, 2})}) {
    ExpectReferenceResults(spec, {Cycle(DType::kBool, 37, 1, 2), Cycle(DType::kI32, 37, 7, 11), table});
  }
  ExpectReferenceResults(spec, {Cycle(DType::kBool, 1, 1, 2), Cycle(DType::kI32, 1, 1, 2), Waves({2, 300}, {300, 1})});
}

// Computes out[m] = table[at[m]] + x[m] * scale, in integers.
absl::Status PickAndScale(ir::Trace& trace) {
  const ir::TensorRef x = trace.Tensor("x");
  const ir::AxisRef m = trace.Tile(trace.SizeOf(x, 0));
  const ir::Value row = trace.Load(trace.Tensor("at"), {m});
  const ir::Value picked = trace.Load(trace.Tensor("table"), {row});
  trace.Store(trace.OutputLike("out", x), {m}, picked + trace.Load(x, {m}) * trace.Scalar("scale"));
  return absl::OkStatus();
}

KernelSpec PickAndScaleSpec() {
  return {.name = "pick_and_scale",
          .parameters = {{.name = "at"},
                         {.name = "table"},
                         {.name = "x"},
                         {.name = "scale", .kind = ParameterKind::kScalar, .default_value = Argument(3)}},
          .body = PickAndScale};
}

TEST_P(DeviceRunTest, IntegersOfEveryDTypeAreElementsAndIndices) {
  for (const DType dtype : device::kAllDTypes) {
    if (!IsInteger(dtype)) continue;
    SCOPED_TRACE(std::string(ShortName(dtype)));
    ExpectReferenceResults(PickAndScaleSpec(),
                           {Cycle(dtype, 37, 7, 11), Cycle(dtype, 11, 5, 100), Cycle(dtype, 37, 3, 90)});
  }
}

// The device is exact where the reference, which computes in doubles, is not.
TEST_P(DeviceRunTest, SixtyFourBitsAreExact) {
  const auto upload = [&](DType dtype, const std::vector<uint64_t>& bits) {
    const Tensor tensor = *AllocateTensor(device_, dtype, {static_cast<int64_t>(bits.size())});
    EXPECT_TRUE(device_
                    ->Upload(tensor.buffer.get(), 0,
                             absl::MakeConstSpan(reinterpret_cast<const std::byte*>(bits.data()), 8 * bits.size()))
                    .ok());
    return tensor;
  };
  const std::vector<uint64_t> x = {0x8000000000000001, 0x7fffffffffffffff, 0xffffffffffffffff, 0x0123456789abcdef};
  const std::vector<uint64_t> table = {1, 0xfedcba9876543210};
  const int64_t scale = (int64_t{1} << 40) + 3;
  for (const Argument& number : {Argument(scale), Argument(ConstExpr(scale))}) {
    for (const DType dtype : {DType::kI64, DType::kU64}) {
      const auto outputs = With(PickAndScaleSpec(), false)
                               ->Run({upload(dtype, {1, 0, 1, 0}), upload(dtype, table), upload(dtype, x), number});
      ASSERT_TRUE(outputs.ok()) << outputs.status();
      const std::vector<std::byte> bytes = *BytesOf(outputs->at(0));
      for (size_t i = 0; i < x.size(); ++i) {
        uint64_t actual = 0;
        std::memcpy(&actual, &bytes[8 * i], 8);
        EXPECT_EQ(actual, table[1 - i % 2] + x[i] * static_cast<uint64_t>(scale)) << ShortName(dtype) << " " << i;
      }
    }
  }
}

TEST_P(DeviceRunTest, AConstExprGivesTheResultsOfAnArgument) {
  const std::unique_ptr<Kernel> kernel = With(PickAndScaleSpec(), false);
  const Tensor at = *ToDevice(device_, Cycle(DType::kI64, 64, 7, 11));
  const Tensor x = *ToDevice(device_, Cycle(DType::kI16, 64, 3, 100));
  const auto argument = kernel->Run({at, x, x, 5});
  const auto constant = kernel->Run({at, x, x, ConstExpr(5)});
  ASSERT_TRUE(argument.ok() && constant.ok()) << constant.status();
  EXPECT_EQ(ToHost(argument->at(0))->data, ToHost(constant->at(0))->data);
}

TEST_P(DeviceRunTest, ADescribedTensorCanBeBoundAndNotRun) {
  const std::unique_ptr<Kernel> kernel = SoftmaxKernel(/*reference=*/false);
  const Tensor tensor = DescribeOnDevice(device_, Waves({5, 300}, {300, 1}));
  const Arguments described = {tensor};
  EXPECT_TRUE(kernel->Bind(described).ok());
  EXPECT_EQ(kernel->Run(described).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ToHost(tensor).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(DeviceRunTest, AnEmptyTensorLaunchesNothing) {
  const absl::StatusOr<std::vector<Tensor>> outputs =
      SoftmaxKernel(false)->Run({*ToDevice(device_, ir::HostArray::Dense(DType::kF32, {0, 8}))});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ(outputs->at(0).element_count(), 0);
}

INSTANTIATE_TEST_SUITE_P(Shapes, DeviceRunTest, ::testing::Values(true, false),
                         [](const auto& info) { return info.param ? "Static" : "Symbolic"; });

}  // namespace
}  // namespace telemetry::worker::runtime
