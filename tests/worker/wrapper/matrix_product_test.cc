#include "worker/wrapper/matrix_product.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "worker/kernels/library.h"

namespace telemetry::worker::wrapper {
namespace {

using device::DType;
using runtime::Tensor;

Tensor Dense(std::vector<int64_t> sizes, DType dtype = DType::kF16) {
  return {.dtype = dtype,
          .sizes = runtime::Dimensions(sizes.begin(), sizes.end()),
          .strides = runtime::DenseStrides(sizes)};
}

std::optional<device::MatrixProduct> Product(const char* kernel, const std::vector<Tensor>& arguments,
                                             const Tensor& out) {
  return FindMatrixProduct(**kernels::FindKernel(kernel), arguments, {&out, 1});
}

TEST(FindMatrixProduct, TakesItsSizesFromTheMatrices) {
  const auto single = Product("matmul", {Dense({3, 5}), Dense({5, 7})}, Dense({3, 7}));
  ASSERT_TRUE(single.has_value());
  EXPECT_EQ(single->dtype, DType::kF16);
  EXPECT_EQ(single->batch, 1);
  EXPECT_EQ(single->m, 3);
  EXPECT_EQ(single->k, 5);
  EXPECT_EQ(single->n, 7);
  const auto batched = Product("bmm", {Dense({2, 3, 5}), Dense({2, 5, 7})}, Dense({2, 3, 7}));
  ASSERT_TRUE(batched.has_value());
  EXPECT_EQ(batched->batch, 2);
  EXPECT_EQ(batched->m, 3);
  EXPECT_EQ(batched->k, 5);
  EXPECT_EQ(batched->n, 7);
}

TEST(FindMatrixProduct, LeavesOtherKernelsAndLayoutsAlone) {
  EXPECT_FALSE(Product("softmax", {Dense({3, 5})}, Dense({3, 5})).has_value());
  Tensor transposed = Dense({5, 7});
  transposed.strides = {1, 5};
  EXPECT_FALSE(Product("matmul", {Dense({3, 5}), transposed}, Dense({3, 7})).has_value());
}

}  // namespace
}  // namespace telemetry::worker::wrapper
