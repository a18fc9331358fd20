#include "worker/ir/reference/reference.h"

#include <cmath>
#include <limits>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/ir/rng.h"
#include "tests/worker/ir/test_kernels.h"
#include "worker/ir/compare.h"

namespace telemetry::worker::ir {
namespace {

using device::DType;
using testing::ElementsAre;
using testing::HasSubstr;

HostArray Array(DType dtype, std::vector<int64_t> sizes, const std::vector<double>& values) {
  HostArray array = HostArray::Dense(dtype, std::move(sizes));
  array.SetRowMajor(values);
  return array;
}

HostArray RandomArray(DType dtype, std::vector<int64_t> sizes, uint64_t seed) {
  Rng rng(seed);
  HostArray array = HostArray::Dense(dtype, std::move(sizes));
  std::vector<double> values(static_cast<size_t>(array.element_count()));
  for (double& value : values) value = rng.Real(-2, 2);
  array.SetRowMajor(values);
  return array;
}

// Returns the first output of the kernel.
HostArray EvaluateOutput(const DeviceIr& ir, reference::Tensors tensors, const reference::Options& options = {}) {
  const size_t output = tensors.size();
  const absl::Status status = reference::Evaluate(ir, options, &tensors);
  EXPECT_TRUE(status.ok()) << status;
  return tensors.size() > output ? tensors[output] : HostArray();
}

void ExpectNear(const HostArray& expected, const HostArray& actual, Tolerance tolerance) {
  const Comparison comparison = Compare(expected, actual, tolerance);
  EXPECT_TRUE(comparison.ok()) << comparison.ToString();
}

TEST(ReferenceTest, ReadsArgumentsWhateverTheirStrides) {
  const DeviceIr ir = TraceKernel("add", {{"x", DType::kF32, {2, 3}}, {"y", DType::kF32, {2, 3}}}, TraceAdd);
  HostArray transposed = HostArray::Strided(DType::kF32, {2, 3}, {1, 2});
  transposed.SetRowMajor({1, 2, 3, 4, 5, 6});
  HostArray repeated = HostArray::Strided(DType::kF32, {2, 3}, {0, 1});
  repeated.data = {10, 20, 30};
  EXPECT_THAT(EvaluateOutput(ir, {transposed, repeated}).RowMajor(), ElementsAre(21, 42, 63, 24, 45, 66));
}

TEST(ReferenceTest, GivesTheSoftmaxThatItsDefinitionGives) {
  const int64_t rows = 5;
  const int64_t columns = 37;
  const DeviceIr ir = TraceKernel("softmax", {{"x", DType::kF32, {rows, columns}}}, TraceSoftmax);
  const HostArray x = RandomArray(DType::kF32, {rows, columns}, 1);
  std::vector<double> expected;
  for (int64_t m = 0; m < rows; ++m) {
    double sum = 0;
    for (int64_t n = 0; n < columns; ++n) sum += std::exp(x.At({m, n}));
    for (int64_t n = 0; n < columns; ++n) expected.push_back(std::exp(x.At({m, n})) / sum);
  }
  const HostArray definition = Array(DType::kF32, {rows, columns}, expected);
  ExpectNear(definition, EvaluateOutput(ir, {x}), {.relative = 1e-6});
  ExpectNear(definition, EvaluateOutput(ir, {x}, {.default_block = 4, .rolled_axes = {1}}), {.relative = 1e-6});
}

TEST(ReferenceTest, GivesTheAttentionThatItsDefinitionGives) {
  const int64_t length = 21;
  const int64_t depth = 5;
  const std::vector<int64_t> sizes = {2, length, depth};
  const DeviceIr ir = TraceKernel(
      "attention", {{"q", DType::kF32, sizes}, {"k", DType::kF32, sizes}, {"v", DType::kF32, sizes}}, TraceAttention);
  const HostArray q = RandomArray(DType::kF32, sizes, 2);
  const HostArray k = RandomArray(DType::kF32, sizes, 3);
  const HostArray v = RandomArray(DType::kF32, sizes, 4);
  HostArray expected = HostArray::Dense(DType::kF32, sizes);
  for (int64_t b = 0; b < sizes[0]; ++b) {
    for (int64_t m = 0; m < length; ++m) {
      double sum = 0;
      std::vector<double> row(static_cast<size_t>(depth), 0);
      for (int64_t s = 0; s < length; ++s) {
        double score = 0;
        for (int64_t d = 0; d < depth; ++d) score += q.At({b, m, d}) * k.At({b, s, d});
        sum += std::exp(score);
        for (int64_t d = 0; d < depth; ++d) row[static_cast<size_t>(d)] += std::exp(score) * v.At({b, s, d});
      }
      for (int64_t d = 0; d < depth; ++d)
        expected.data[expected.ElementOffset({b, m, d})] = row[static_cast<size_t>(d)] / sum;
    }
  }
  for (const int64_t block : {1, 3, 8, 64}) {
    ExpectNear(expected, EvaluateOutput(ir, {q, k, v}, {.default_block = block}), {.absolute = 1e-6, .relative = 1e-6});
  }
}

TEST(ReferenceTest, LetsNoGarbageFromBeyondAnEndIntoAResult) {
  const DeviceIr ir = TraceKernel("sum", {{"x", DType::kF32, {3, 5}}}, [](Trace& t) {
    const TensorRef x = t.Tensor("x");
    const TensorRef out = t.Output("out", {t.SizeOf(x, 0)}, DType::kF32);
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
    t.Store(out, {m}, t.Sum(t.Load(x, {m, n}) * 2, n));
  });
  EXPECT_THAT(EvaluateOutput(ir, {Array(DType::kF32, {3, 5}, std::vector<double>(15, 1))}, {.default_block = 2}).data,
              ElementsAre(10, 10, 10));
}

// Checks that the reference gives NaN for a kernel whose masks have no effect.
TEST(ReferenceTest, ShowsAMaskThatIsMissing) {
  DeviceIr ir = TraceKernel("softmax", {{"x", DType::kF32, {3, 5}}}, TraceSoftmax);
  for (Graph& graph : ir.graphs) {
    for (Node& node : graph.nodes) {
      if (node.op == Op::kMaskTo) node.value = std::numeric_limits<double>::quiet_NaN();
    }
  }
  const HostArray out = EvaluateOutput(ir, {RandomArray(DType::kF32, {3, 5}, 5)});
  for (const double value : out.data) EXPECT_TRUE(std::isnan(value));
}

TEST(ReferenceTest, RoundsWhereDtypesNarrow) {
  const DeviceIr ir = TraceKernel("round", {{"x", DType::kF32, {3}}}, [](Trace& t) {
    const TensorRef x = t.Tensor("x");
    const TensorRef narrow = t.Output("narrow", {t.SizeOf(x, 0)}, DType::kF16);
    const TensorRef back = t.Output("back", {t.SizeOf(x, 0)}, DType::kF32);
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const Value v = t.Load(x, {m});
    t.Store(narrow, {m}, v);
    t.Store(back, {m}, v.To(DType::kBF16).To(DType::kF32) - 1);
  });
  // A value halfway between two f16 values rounds to the even one. A value beyond the largest becomes infinity.
  reference::Tensors tensors = {Array(DType::kF32, {3}, {1 + 0x1p-11, 1 + 3 * 0x1p-11, 70000})};
  ASSERT_TRUE(reference::Evaluate(ir, {}, &tensors).ok());
  EXPECT_THAT(tensors[1].data, ElementsAre(1, 1 + 0x1p-9, std::numeric_limits<double>::infinity()));
  EXPECT_THAT(tensors[2].data, ElementsAre(0, 0, 70144 - 1));
}

TEST(ReferenceTest, WrapsIntegers) {
  const DeviceIr ir = TraceKernel("wrap", {{"x", DType::kI32, {3}}}, [](Trace& t) {
    const TensorRef x = t.Tensor("x");
    const TensorRef out = t.OutputLike("out", x);
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    t.Store(out, {m}, t.Load(x, {m}) * 65537 + 1);
  });
  EXPECT_THAT(EvaluateOutput(ir, {Array(DType::kI32, {3}, {2147483647, 65536, -3})}).data,
              ElementsAre(2147418112, 65537, -196610));
}

TEST(ReferenceTest, BranchesAndRepeats) {
  const DeviceIr ir = TraceKernel("control", {{"x", DType::kF32, {2}}}, TraceControl, {{"n", DType::kI32}});
  const HostArray x = Array(DType::kF32, {2}, {3, 5});
  EXPECT_THAT(EvaluateOutput(ir, {x}, {.scalars = {{"n", 3}}}).data, ElementsAre(243, 405));
  EXPECT_THAT(EvaluateOutput(ir, {x}, {.scalars = {{"n", 0}}}).data, ElementsAre(5, 9));
}

TEST(ReferenceTest, StopsAWhileLoopWithoutEnd) {
  const DeviceIr ir = TraceKernel("endless", {{"x", DType::kF32, {1}}}, [](Trace& t) {
    const TensorRef x = t.Tensor("x");
    const TensorRef out = t.OutputLike("out", x);
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const Trace::Carried c = t.While(
        {t.Full({}, 0, DType::kI32)}, [](const Trace::Carried& c) { return c[0] < 1; },
        [](const Trace::Carried& c) -> Trace::Carried { return {c[0] * 2}; });
    t.Store(out, {m}, t.Load(x, {m}) + c[0]);
  });
  reference::Tensors tensors = {HostArray::Dense(DType::kF32, {1})};
  EXPECT_EQ(reference::Evaluate(ir, {}, &tensors).code(), absl::StatusCode::kFailedPrecondition);
}

TEST(ReferenceTest, RefusesAnIndexOutsideItsTensor) {
  const DeviceIr ir = TraceKernel("gather", {{"at", DType::kI32, {3}}, {"table", DType::kF32, {4}}}, [](Trace& t) {
    const TensorRef at = t.Tensor("at");
    const TensorRef out = t.Output("out", {t.SizeOf(at, 0)}, DType::kF32);
    const AxisRef m = t.Tile(t.SizeOf(at, 0));
    t.Store(out, {m}, t.Load(t.Tensor("table"), {t.Load(at, {m})}));
  });
  const HostArray table = Array(DType::kF32, {4}, {10, 11, 12, 13});
  EXPECT_THAT(EvaluateOutput(ir, {Array(DType::kI32, {3}, {3, 0, 1}), table}).data, ElementsAre(13, 10, 11));
  reference::Tensors wrong = {Array(DType::kI32, {3}, {3, 4, 1}), table};
  const absl::Status status = reference::Evaluate(ir, {}, &wrong);
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(status.message()), HasSubstr("index 4"));
}

TEST(ReferenceTest, RefusesArgumentsThatAreNotTheKernels) {
  const DeviceIr ir = TraceKernel("softmax", {{"x", DType::kF32, {3, 5}}}, TraceSoftmax);
  reference::Tensors none;
  EXPECT_EQ(reference::Evaluate(ir, {}, &none).code(), absl::StatusCode::kInvalidArgument);
  reference::Tensors dtype = {HostArray::Dense(DType::kF16, {3, 5})};
  EXPECT_EQ(reference::Evaluate(ir, {}, &dtype).code(), absl::StatusCode::kInvalidArgument);
  reference::Tensors rank = {HostArray::Dense(DType::kF32, {15})};
  EXPECT_EQ(reference::Evaluate(ir, {}, &rank).code(), absl::StatusCode::kInvalidArgument);
  reference::Tensors right = {HostArray::Dense(DType::kF32, {3, 5})};
  EXPECT_EQ(reference::Evaluate(ir, {.rolled_axes = {0}}, &right).code(), absl::StatusCode::kInvalidArgument);
}

TEST(ReferenceTest, DoesNothingForEmptyTensors) {
  const DeviceIr softmax = TraceKernel("softmax", {{"x", DType::kF32, {0, 5}}}, TraceSoftmax);
  EXPECT_TRUE(EvaluateOutput(softmax, {HostArray::Dense(DType::kF32, {0, 5})}).data.empty());
  const DeviceIr sum = TraceKernel("sum", {{"x", DType::kF32, {2, 0}}}, [](Trace& t) {
    const TensorRef x = t.Tensor("x");
    const TensorRef out = t.Output("out", {t.SizeOf(x, 0)}, DType::kF32);
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
    t.Store(out, {m}, t.Sum(t.Load(x, {m, n}), n));
  });
  EXPECT_THAT(EvaluateOutput(sum, {HostArray::Dense(DType::kF32, {2, 0})}).data, ElementsAre(0, 0));
}

// Checks a product of the size that other tests use. It takes about 0.2 s, and only the timeout of the test program
// limits it.
TEST(ReferenceTest, MultipliesMatricesOfTestSizeInSeconds) {
  const DeviceIr ir =
      TraceKernel("bmm", {{"a", DType::kF16, {1, 512, 512}}, {"b", DType::kF16, {1, 512, 512}}}, TraceBmm);
  const HostArray a = RandomArray(DType::kF16, {1, 512, 512}, 6);
  const HostArray b = RandomArray(DType::kF16, {1, 512, 512}, 7);
  const HostArray out = EvaluateOutput(ir, {a, b}, {.default_block = 64});
  double expected = 0;
  for (int64_t k = 0; k < 512; ++k) expected += a.At({0, 511, k}) * b.At({0, k, 3});
  EXPECT_NEAR(out.At({0, 511, 3}), expected, 0x1p-10 * std::abs(expected));
}

// Evaluates a kernel as a whole and at some points, and compares the elements of the points.
void ExpectPartsAgree(const DeviceIr& ir, const reference::Tensors& arguments,
                      const std::vector<reference::GridPoint>& points, size_t elements) {
  reference::Tensors whole = arguments;
  ASSERT_TRUE(reference::Evaluate(ir, {}, &whole).ok());
  reference::Tensors layouts = arguments;
  const auto stored = reference::EvaluateAt(ir, {}, points, {.threads = 2}, &layouts);
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->size(), elements);
  for (const reference::StoredElement& element : *stored) {
    const HostArray& array = whole[static_cast<size_t>(element.tensor)];
    EXPECT_NEAR(element.value, array.data[static_cast<size_t>(element.offset)], 1e-6) << element.offset;
  }
}

TEST(ReferenceTest, PartsHaveTheValuesOfTheWhole) {
  ExpectPartsAgree(TraceKernel("softmax", {{"x", DType::kF32, {9, 37}}}, TraceSoftmax),
                   {RandomArray(DType::kF32, {9, 37}, 1)}, {{0}, {8}, {3}}, 3 * 37);
  ExpectPartsAgree(TraceKernel("bmm", {{"a", DType::kF32, {2, 5, 33}}, {"b", DType::kF32, {2, 33, 7}}}, TraceBmm),
                   {RandomArray(DType::kF32, {2, 5, 33}, 1), RandomArray(DType::kF32, {2, 33, 7}, 2)},
                   {{1, 4, 6}, {0, 0, 0}}, 2);
}

TEST(ReferenceTest, ElementsOfAPointAreLimited) {
  const DeviceIr ir = TraceKernel("softmax", {{"x", DType::kF32, {2, 100}}}, TraceSoftmax);
  reference::Tensors tensors = {RandomArray(DType::kF32, {2, 100}, 1)};
  const auto stored = reference::EvaluateAt(ir, {}, {{{1}}}, {.most_elements = 4}, &tensors);
  ASSERT_TRUE(stored.ok()) << stored.status();
  std::vector<int64_t> offsets;
  for (const reference::StoredElement& element : *stored) offsets.push_back(element.offset);
  EXPECT_THAT(offsets, ElementsAre(100, 133, 166, 199));
}

TEST(ReferenceTest, WorkGrowsWithTheSummedAxis) {
  const auto work = [](int64_t depth) {
    const DeviceIr ir =
        TraceKernel("bmm", {{"a", DType::kF32, {2, 5, depth}}, {"b", DType::kF32, {2, depth, 7}}}, TraceBmm);
    reference::Tensors tensors = {RandomArray(DType::kF32, {2, 5, depth}, 1),
                                  RandomArray(DType::kF32, {2, depth, 7}, 2)};
    return reference::WorkOfPoint(ir, {}, &tensors).value();
  };
  EXPECT_NEAR(work(64 * 16) / work(16 * 16), 4, 0.2);
}

}  // namespace
}  // namespace telemetry::worker::ir
