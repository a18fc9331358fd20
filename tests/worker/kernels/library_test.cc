#include "worker/kernels/library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace telemetry::worker::kernels {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(LibraryTest, HasTheKernelsByName) {
  std::vector<std::string> names;
  for (const LibraryKernel* kernel : AllKernels()) names.push_back(kernel->name);
  EXPECT_THAT(names, testing::ElementsAre("add", "attention", "bmm", "cross_entropy", "exp", "geglu", "layer_norm",
                                          "long_sum", "matmul", "rms_norm", "softmax", "softmax_two_pass", "sum"));
  for (const std::string& name : names) EXPECT_EQ((*FindKernel(name))->name, name);
}

TEST(LibraryTest, EveryDimensionHasADefault) {
  for (const LibraryKernel* kernel : AllKernels()) {
    std::set<std::string> used;
    for (const TensorArgument& tensor : kernel->tensors) {
      for (const std::string& dimension : tensor.dimensions) {
        EXPECT_EQ(kernel->default_sizes.count(dimension), 1u) << kernel->name << " " << dimension;
        used.insert(dimension);
      }
    }
    EXPECT_EQ(used.size(), kernel->default_sizes.size()) << kernel->name;
  }
}

TEST(LibraryTest, SuggestsTheNearestName) {
  const absl::Status misspelt = FindKernel("sofmax").status();
  EXPECT_EQ(misspelt.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(misspelt.message()), HasSubstr("did you mean softmax?"));
  EXPECT_THAT(std::string(misspelt.message()), HasSubstr("add, attention, bmm"));
}

TEST(LibraryTest, SuggestsNothingForWhatIsNothingLikeAKernel) {
  EXPECT_THAT(std::string(FindKernel("convolution_2d").status().message()), Not(HasSubstr("did you mean")));
}

TEST(LibraryTest, CountsBytesAndOperations) {
  const LibraryKernel& bmm = **FindKernel("bmm");
  const Problem problem = DefaultProblem(bmm);
  const TensorSpec out = {"out", {16, 512, 1024}, device::DType::kF16};
  const Cost cost = ComputeCost(bmm, problem, {out});
  EXPECT_EQ(cost.flops, 2.0 * 16 * 512 * 768 * 1024);
  EXPECT_EQ(cost.bytes, 2.0 * 16 * (512 * 768 + 768 * 1024 + 512 * 1024));
}

}  // namespace
}  // namespace telemetry::worker::kernels
