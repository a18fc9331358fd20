#include "worker/tune/search/gaussian_process.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "proto/base/random.h"

namespace telemetry::worker::tune::search {
namespace {

TEST(CholeskyTest, SolvesWhatItFactorized) {
  constexpr size_t kSize = 9;
  Random random(4);
  LowerTriangle matrix(kSize);
  for (size_t i = 0; i < kSize; ++i) {
    for (size_t j = 0; j < i; ++j) matrix.row(i)[j] = random.Real();
    matrix.row(i)[i] = kSize;
  }
  const LowerTriangle original = matrix;
  std::vector<double> b;
  for (size_t i = 0; i < kSize; ++i) b.push_back(random.Real());
  ASSERT_TRUE(Factorize(&matrix));
  const std::vector<double> x = SolveUpper(matrix, SolveLower(matrix, b));
  for (size_t i = 0; i < kSize; ++i) {
    double product = 0;
    for (size_t j = 0; j < kSize; ++j) product += (j <= i ? original.row(i)[j] : original.row(j)[i]) * x[j];
    EXPECT_NEAR(product, b[i], 1e-12);
  }
}

TEST(CholeskyTest, RefusesWhatIsNotPositiveDefinite) {
  LowerTriangle matrix(2);
  matrix.row(0)[0] = 1;
  matrix.row(1)[0] = 2;
  matrix.row(1)[1] = 1;
  EXPECT_FALSE(Factorize(&matrix));
}

// A test function: quadratic in the first feature, linear in the second, independent of the third.
double Value(const Features& input) { return 3 + 0.3 * (input[0] - 4) * (input[0] - 4) + 0.5 * input[1]; }

Features Draw(Random* random) {
  return {static_cast<double>(random->Below(10)), static_cast<double>(random->Below(3)),
          static_cast<double>(random->Below(10))};
}

GaussianProcess Fitted(size_t observations, double noise) {
  Random random(11);
  std::vector<Features> inputs;
  std::vector<double> values;
  for (size_t i = 0; i < observations; ++i) {
    inputs.push_back(Draw(&random));
    values.push_back(Value(inputs.back()) + noise * (2 * random.Real() - 1));
  }
  GaussianProcess process(3);
  process.Fit(inputs, values);
  return process;
}

TEST(GaussianProcessTest, PredictsWhatItHasNotSeen) {
  const GaussianProcess process = Fitted(60, 0.05);
  Random random(12);
  for (int i = 0; i < 50; ++i) {
    const Features input = Draw(&random);
    EXPECT_NEAR(process.Predict(input).mean, Value(input), 0.8);
  }
}

TEST(GaussianProcessTest, KnowsWhereItKnowsLittle) {
  const GaussianProcess process = Fitted(60, 0);
  EXPECT_LT(process.Predict({4, 1, 5}).deviation, process.Predict({40, 1, 5}).deviation);
}

TEST(GaussianProcessTest, FindsOutWhatMatters) {
  const GaussianProcess process = Fitted(60, 0.05);
  const Features here = {4, 1, 4};
  EXPECT_GT(process.Correlation(here, {4, 1, 9}), process.Correlation(here, {9, 1, 4}));
  EXPECT_EQ(process.Correlation(here, here), 1);
}

TEST(GaussianProcessTest, TakesValuesThatAreAllAlikeAndInputsTwice) {
  GaussianProcess process(1);
  process.Fit({{1}, {1}, {2}}, {5, 5, 5});
  EXPECT_NEAR(process.Predict({1}).mean, 5, 1e-6);
  EXPECT_TRUE(std::isfinite(process.Predict({7}).deviation));
  process.Fit({{1}}, {2});
  EXPECT_NEAR(process.Predict({1}).mean, 2, 1e-6);
}

}  // namespace
}  // namespace telemetry::worker::tune::search
