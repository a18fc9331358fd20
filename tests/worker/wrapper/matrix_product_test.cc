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

TEST(FindMatrixProduct, TakesTransposedAndStridedMatricesAsTheyAre) {
  Tensor x = Dense({2, 3, 5});
  x.strides = {40, 8, 1};
  Tensor y = Dense({2, 5, 7});
  y.strides = {0, 1, 6};
  const auto product = Product("bmm", {x, y}, Dense({2, 3, 7}));
  ASSERT_TRUE(product.has_value());
  EXPECT_FALSE(product->x.is_column_major);
  EXPECT_EQ(product->x.leading, 8);
  EXPECT_EQ(product->x.batch_stride, 40);
  EXPECT_TRUE(product->y.is_column_major);
  EXPECT_EQ(product->y.leading, 6);
  EXPECT_EQ(product->y.batch_stride, 0) << "all products have the same matrix";
}

TEST(FindMatrixProduct, LeavesOtherKernelsAndLayoutsAlone) {
  EXPECT_FALSE(Product("softmax", {Dense({3, 5})}, Dense({3, 5})).has_value());
  EXPECT_FALSE(Product("matmul", {Dense({3, 0}), Dense({0, 7})}, Dense({3, 7})).has_value());
  Tensor spread = Dense({5, 7});
  spread.strides = {14, 2};
  EXPECT_FALSE(Product("matmul", {Dense({3, 5}), spread}, Dense({3, 7})).has_value());
  Tensor overlapping = Dense({5, 7});
  overlapping.strides = {1, 1};
  EXPECT_FALSE(Product("matmul", {Dense({3, 5}), overlapping}, Dense({3, 7})).has_value());
}

}  // namespace
}  // namespace telemetry::worker::wrapper
