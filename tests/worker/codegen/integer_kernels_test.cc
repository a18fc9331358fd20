#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/codegen/kernel_case.h"
#include "tests/worker/compiler.h"
#include "worker/ir/half.h"

// Tests kernels on tensors of every integer dtype: on the device against the reference, and their CUDA source with
// NVRTC.

namespace telemetry::worker::codegen {
namespace {

using device::DType;
using ir::AxisRef;
using ir::TensorRef;
using ir::Value;
using testing::HasSubstr;

constexpr DType kIntegers[] = {DType::kI8, DType::kI16, DType::kI32, DType::kI64,
                               DType::kU8, DType::kU16, DType::kU32, DType::kU64};

// Returns values over the whole range of the dtype, with both ends. Those of 64 bits need at most 53 bits, so that the
// reference is exact.
std::vector<double> WholeRange(DType dtype, size_t count) {
  const double largest = std::min(ir::LargestInteger(dtype), 0x1p52);
  const double smallest = std::max(ir::SmallestInteger(dtype), -0x1p52);
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i) {
    const double part = static_cast<double>(i * 37 % count) / static_cast<double>(count - 1);
    values.push_back(std::floor(smallest + part * (largest - smallest)));
  }
  values[1] = 0;
  values[2] = 1;
  return values;
}

class IntegerKernelTest : public testing::TestWithParam<DType> {
 protected:
  KernelCase Rows(int64_t m, int64_t n) const {
    KernelCase kernel;
    kernel.Input("x", GetParam(), {m, n}).Values(WholeRange(GetParam(), static_cast<size_t>(m * n)));
    kernel.Input("y", GetParam(), {m, n});
    return kernel;
  }
};
INSTANTIATE_TEST_SUITE_P(DTypes, IntegerKernelTest, testing::ValuesIn(kIntegers),
                         [](const auto& info) { return std::string(ShortName(info.param)); });

// Traces out = f(x, y) for each function.
KernelCase& TraceEach(KernelCase& kernel,
                      const std::vector<std::function<Value(ir::Trace&, Value, Value)>>& functions) {
  return kernel.Trace([&functions](ir::Trace& t) {
    const TensorRef x = t.Tensor("x");
    const TensorRef y = t.Tensor("y");
    std::vector<TensorRef> outputs;
    for (size_t i = 0; i < functions.size(); ++i) {
      outputs.push_back(t.OutputLike("out" + std::to_string(i), x));
    }
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const AxisRef n = t.Tile(t.SizeOf(x, 1));
    const Value a = t.Load(x, {m, n});
    const Value b = t.Load(y, {m, n});
    for (size_t i = 0; i < functions.size(); ++i) t.Store(outputs[i], {m, n}, functions[i](t, a, b));
  });
}

TEST_P(IntegerKernelTest, ArithmeticWraps) {
  KernelCase kernel = Rows(13, 37);
  TraceEach(kernel,
            {[](ir::Trace&, Value x, Value y) { return x + y; }, [](ir::Trace&, Value x, Value y) { return y - x; },
             [](ir::Trace&, Value x, Value) { return -x; }, [](ir::Trace&, Value x, Value) { return abs(x) + 100; },
             // The next operation sees the wrapped value.
             [](ir::Trace& t, Value x, Value y) { return t.Where((x + y) < x, x, y); },
             [](ir::Trace&, Value x, Value y) { return maximum(x + 1, y * 3); },
             [](ir::Trace&, Value x, Value y) { return minimum(x - 1, y); }});
  kernel.ExpectReferenceResults("Config(block_sizes=[4, 16], num_warps=2)");
}

TEST_P(IntegerKernelTest, ProductsWrap) {
  KernelCase kernel;
  // Products of two values of 64 bits need 53 bits.
  std::vector<double> values = WholeRange(GetParam(), 512);
  for (double& value : values) value = std::trunc(SizeOf(GetParam()) == 8 ? value / 0x1p26 : value);
  kernel.Input("x", GetParam(), {8, 64}).Values(values).Input("y", GetParam(), {8, 64}).Values(values);
  TraceEach(kernel,
            {[](ir::Trace&, Value x, Value y) { return x * y; }, [](ir::Trace&, Value x, Value) { return x * 7; }});
  kernel.ExpectReferenceResults();
}

TEST_P(IntegerKernelTest, VectorsOfEveryLength) {
  for (const int64_t n : {3, 4, 48}) {
    KernelCase kernel = Rows(6, n);
    TraceEach(kernel, {[](ir::Trace&, Value x, Value) { return x; }});
    kernel.ExpectResults("Config(block_sizes=[2, 16], num_warps=1)", {});
    if (n == 48 && HasNvrtc()) {
      kernel.ExpectCompiles("Config(load_eviction_policies=['first', ''], store_eviction_policies=['first'])");
    }
  }
}

// Traces the conversion of x to each dtype and back.
void TraceConversions(KernelCase& kernel, bool to_floats) {
  kernel.Trace([to_floats](ir::Trace& t) {
    const TensorRef x = t.Tensor("x");
    std::vector<std::pair<TensorRef, TensorRef>> outputs;
    std::vector<DType> dtypes;
    for (const DType to : device::kAllDTypes) {
      // The reference cannot hold the large u64 that a negative number becomes.
      const bool is_exact = to != DType::kU64 || IsUnsigned(t.TensorInfo(x).dtype);
      if (IsFloat(to) != to_floats || !is_exact) continue;
      dtypes.push_back(to);
      const std::string name(ShortName(to));
      outputs.emplace_back(t.Output("to_" + name, {t.SizeOf(x, 0), t.SizeOf(x, 1)}, to),
                           t.OutputLike("from_" + name, x));
    }
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const AxisRef n = t.Tile(t.SizeOf(x, 1));
    const Value value = t.Load(x, {m, n});
    for (size_t i = 0; i < dtypes.size(); ++i) {
      const Value converted = value.To(dtypes[i]);
      t.Store(outputs[i].first, {m, n}, converted);
      t.Store(outputs[i].second, {m, n}, converted);
    }
  });
}

TEST_P(IntegerKernelTest, Conversions) {
  KernelCase integers;
  integers.Input("x", GetParam(), {5, 40}).Values(WholeRange(GetParam(), 200));
  TraceConversions(integers, false);
  integers.ExpectReferenceResults();
  // A float holds small integers exactly; a device may convert floats beyond the range of an integer to any value.
  KernelCase floats;
  floats.Input("x", GetParam(), {5, 40});
  TraceConversions(floats, true);
  floats.ExpectReferenceResults();
}

TEST_P(IntegerKernelTest, Reductions) {
  KernelCase kernel = Rows(9, 70);
  kernel.Trace([](ir::Trace& t) {
    const TensorRef x = t.Tensor("x");
    const TensorRef y = t.Tensor("y");
    const DType dtype = t.TensorInfo(x).dtype;
    const DType summed = dtype == DType::kU32 || SizeOf(dtype) == 8 ? dtype : DType::kI32;
    std::vector<TensorRef> outputs;
    for (const auto& [name, type] : std::vector<std::pair<std::string, DType>>{
             {"sum", summed}, {"largest", dtype}, {"smallest", dtype}, {"product", summed}, {"where", DType::kI32}}) {
      outputs.push_back(t.Output(name, {t.SizeOf(x, 0)}, type));
    }
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
    const Value a = t.Load(x, {m, n});
    t.Store(outputs[0], {m}, t.Sum(t.Load(y, {m, n}), n));
    t.Store(outputs[1], {m}, t.AMax(a, n));
    t.Store(outputs[2], {m}, t.AMin(a, n));
    t.Store(outputs[3], {m}, t.Prod(t.Load(y, {m, n}), n));
    t.Store(outputs[4], {m}, t.ArgMax(a, n));
  });
  kernel.ExpectReferenceResults("Config(block_sizes=[4], num_warps=4)");
  kernel.ExpectResults("Config(reduction_loops=[32])", {});
}

TEST_P(IntegerKernelTest, AreIndices) {
  KernelCase kernel;
  std::vector<double> rows;
  for (int i = 0; i < 45; ++i) rows.push_back(i * 7 % 20);
  kernel.Input("table", DType::kF32, {20, 24}).Input("rows", GetParam(), {45}).Values(rows);
  kernel.Trace([](ir::Trace& t) {
    const TensorRef table = t.Tensor("table");
    const TensorRef rows = t.Tensor("rows");
    const TensorRef out = t.Output("out", {t.SizeOf(rows, 0), t.SizeOf(table, 1)}, DType::kF32);
    const AxisRef m = t.Tile(t.SizeOf(rows, 0));
    const AxisRef n = t.Tile(t.SizeOf(table, 1));
    const Value row = t.Load(rows, {m});
    t.Store(out, {m, n}, t.Load(table, {row, n}));
  });
  kernel.ExpectReferenceResults();
}

TEST_P(IntegerKernelTest, SizesAtLaunchAndStrides) {
  KernelCase kernel;
  kernel.Input("x", GetParam(), {11, 30}, {64, 2}).Input("y", GetParam(), {11, 30}, {1, 11}).SizesAtLaunch();
  TraceEach(kernel, {[](ir::Trace&, Value x, Value y) { return x * 5 - y; }});
  kernel.ExpectResults("Config()", {});
}

TEST(IntegerKernels, ReduceAcrossTheBlocksOfACluster) {
  for (const DType dtype : {DType::kI16, DType::kU32, DType::kI64, DType::kU64}) {
    KernelCase kernel;
    kernel.Input("x", dtype, {64, 4096}).Trace([](ir::Trace& t) {
      const TensorRef x = t.Tensor("x");
      const TensorRef out = t.Output("out", {t.SizeOf(x, 0)}, t.TensorInfo(x).dtype);
      const AxisRef m = t.Tile(t.SizeOf(x, 0));
      const AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
      t.Store(out, {m}, t.AMax(t.Load(x, {m, n}), n));
    });
    if (HasNvrtc()) kernel.ExpectCompiles("Config(block_sizes=[1], num_ctas=2, num_warps=4)");
  }
}

TEST(IntegerKernels, MixedDTypesGiveOneThatHoldsBoth) {
  const std::vector<std::tuple<DType, DType, DType>> cases = {
      {DType::kU8, DType::kI8, DType::kI16},   {DType::kU8, DType::kI64, DType::kI64},
      {DType::kU16, DType::kI16, DType::kI32}, {DType::kU32, DType::kI32, DType::kI64},
      {DType::kU32, DType::kU8, DType::kU32},  {DType::kI16, DType::kI8, DType::kI16},
      {DType::kU64, DType::kF16, DType::kF16}, {DType::kBool, DType::kU16, DType::kU16}};
  for (const auto& [a, b, both] : cases) {
    KernelCase kernel;
    kernel.Input("x", a, {4, 32}).Input("y", b, {4, 32}).Trace([both = both](ir::Trace& t) {
      const TensorRef x = t.Tensor("x");
      const TensorRef y = t.Tensor("y");
      const TensorRef out = t.Output("out", {t.SizeOf(x, 0), t.SizeOf(x, 1)}, both);
      const AxisRef m = t.Tile(t.SizeOf(x, 0));
      const AxisRef n = t.Tile(t.SizeOf(x, 1));
      const Value first = t.Load(x, {m, n});
      const Value sum = first + t.Load(y, {m, n});
      EXPECT_EQ(sum.dtype(), both);
      t.Store(out, {m, n}, sum);
    });
    kernel.ExpectResults("Config()", {});
  }
}

TEST(IntegerKernels, NoDTypeHoldsU64AndASignedOne) {
  const ir::HostTensor x = {
      .name = "x", .dtype = DType::kU64, .sizes = {{.text = "8", .value = 8}}, .strides = {{.text = "1", .value = 1}}};
  ir::HostTensor y = x;
  y.name = "y";
  y.dtype = DType::kI8;
  ir::Trace trace({.kernel_name = "mixed", .tensors = {x, y}});
  const AxisRef n = trace.Tile(trace.SizeOf(trace.Tensor("x"), 0));
  const Value first = trace.Load(trace.Tensor("x"), {n});
  const Value sum = first + trace.Load(trace.Tensor("y"), {n});
  EXPECT_FALSE(sum.valid());
  EXPECT_THAT(trace.Finish().status().message(), HasSubstr("add of u64 and i8: no dtype holds the values of both"));
}

}  // namespace
}  // namespace telemetry::worker::codegen
