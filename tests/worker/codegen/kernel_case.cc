#include "tests/worker/codegen/kernel_case.h"

#include <random>

#include "gtest/gtest.h"
#include "proto/record/strings.h"
#include "tests/worker/codegen/kernel_runner.h"
#include "tests/worker/compiler.h"
#include "worker/codegen/config_space.h"

namespace telemetry::worker::codegen {
namespace {

using device::DType;

std::vector<double> SmallValues(DType dtype, const std::string& name, int64_t count) {
  std::seed_seq seed(name.begin(), name.end());
  std::mt19937 random(seed);
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    const auto below = [&random](int end) { return static_cast<double>(random() % static_cast<uint32_t>(end)); };
    if (IsFloat(dtype)) values.push_back(below(4001) / 1000 - 2);
    if (IsInteger(dtype)) values.push_back(below(19) - (IsUnsigned(dtype) ? 0 : 9));
    if (dtype == DType::kBool) values.push_back(below(2));
  }
  return values;
}

ir::Size Static(int64_t value) { return {.text = std::to_string(value), .value = value}; }

ir::Size AtLaunch(int64_t value, const char* prefix, size_t tensor, size_t dimension) {
  return {.text = record::Cat(prefix, tensor, dimension),
          .value = value,
          .is_static = false,
          .tensor = static_cast<int>(tensor),
          .dimension = static_cast<int>(dimension)};
}

}  // namespace

KernelCase& KernelCase::Input(const std::string& name, DType dtype, std::vector<int64_t> sizes) {
  std::vector<int64_t> strides = ir::RowMajorStrides(sizes);
  return Input(name, dtype, std::move(sizes), std::move(strides));
}

KernelCase& KernelCase::Input(const std::string& name, DType dtype, std::vector<int64_t> sizes,
                              std::vector<int64_t> strides) {
  ir::HostTensor tensor = {.name = name, .dtype = dtype};
  for (const int64_t size : sizes) tensor.sizes.push_back(Static(size));
  for (const int64_t stride : strides) tensor.strides.push_back(Static(stride));
  tensors_.push_back(std::move(tensor));
  ir::HostArray array = ir::HostArray::Strided(dtype, std::move(sizes), std::move(strides));
  array.SetRowMajor(SmallValues(dtype, name, array.element_count()));
  arrays_.push_back(std::move(array));
  return *this;
}

KernelCase& KernelCase::Values(const std::vector<double>& values) {
  arrays_.back().SetRowMajor(values);
  return *this;
}

KernelCase& KernelCase::SizesAtLaunch() {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    for (size_t d = 0; d < tensors_[i].sizes.size(); ++d) {
      tensors_[i].sizes[d] = AtLaunch(arrays_[i].sizes[d], "s", i, d);
      tensors_[i].strides[d] = AtLaunch(arrays_[i].strides[d], "t", i, d);
    }
  }
  return *this;
}

KernelCase& KernelCase::Scalar(const std::string& name, double value) {
  scalars_.push_back({.name = name, .dtype = DType::kF32});
  scalar_values_[name] = value;
  return *this;
}

KernelCase& KernelCase::Trace(const std::function<void(ir::Trace&)>& kernel) {
  ir::Trace trace({.kernel_name = "tested", .tensors = tensors_, .scalars = scalars_, .scalar_values = scalar_values_});
  kernel(trace);
  absl::StatusOr<ir::DeviceIr> ir = trace.Finish();
  EXPECT_TRUE(ir.ok()) << ir.status();
  if (ir.ok()) ir_ = *std::move(ir);
  return *this;
}

Config KernelCase::With(const std::string& config) const {
  const absl::StatusOr<Config> parsed = Config::Parse(config);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  const absl::StatusOr<Config> complete = ConfigSpaceFor(ir_).Normalize(parsed.ok() ? *parsed : Config());
  EXPECT_TRUE(complete.ok()) << complete.status();
  return complete.ok() ? *complete : Config();
}

void KernelCase::ExpectResults(const std::string& config, ir::Tolerance tolerance,
                               const GenerateOptions& options) const {
  const Config complete = With(config);
  ir::reference::Tensors expected = arrays_;
  const absl::Status evaluated = ir::reference::Evaluate(ir_, {.scalars = scalar_values_}, &expected);
  ASSERT_TRUE(evaluated.ok()) << evaluated;
  ir::reference::Tensors actual = arrays_;
  const absl::Status ran = RunKernel(ir_, complete, scalar_values_, TestDevice().get(), &actual, options);
  ASSERT_TRUE(ran.ok()) << ran << "\n" << complete.ToString();
  for (size_t i = 0; i < expected.size(); ++i) {
    ir::Tolerance allowed = tolerance;
    if (ir_.tensors[i].dtype == DType::kF16) allowed.relative = std::max(allowed.relative, 0x1p-9);
    if (ir_.tensors[i].dtype == DType::kBF16) allowed.relative = std::max(allowed.relative, 0x1p-6);
    const ir::Comparison comparison = ir::Compare(expected[i], actual[i], allowed);
    EXPECT_TRUE(comparison.ok()) << ir_.tensors[i].name << ": " << comparison.ToString() << "\n" << complete.ToString();
  }
}

void KernelCase::ExpectCompiles(const std::string& config, const GenerateOptions& options) const {
  const Config complete = With(config);
  int architectures = 0;
  for (const int sm : {80, 90}) {
    const ConfigSpace space = ConfigSpaceFor(ir_, {.dialect = device::Dialect::kCuda, .sm = sm});
    if (!space.Normalize(complete).ok()) continue;
    const absl::Status compiled = CompileForCuda(ir_, complete, sm, options);
    EXPECT_TRUE(compiled.ok()) << compiled;
    ++architectures;
  }
  EXPECT_GT(architectures, 0) << "no architecture allows " << complete.ToString();
}

void KernelCase::ExpectReferenceResults(const std::string& config, ir::Tolerance tolerance,
                                        const GenerateOptions& options) const {
  ExpectResults(config, tolerance, options);
  if (HasNvrtc()) ExpectCompiles(config, options);
}

}  // namespace telemetry::worker::codegen
