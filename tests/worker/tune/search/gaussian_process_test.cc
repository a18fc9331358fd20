#include "worker/tune/search/gaussian_process.h"

#include <gtest/gtest.h>

#include <cmath>

#include "proto/base/random.h"

namespace telemetry::worker::tune::search {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

// A test function: quadratic in the first feature, linear in the second, independent of the third.
double Value(const Vector3d& input) { return 3 + 0.3 * (input[0] - 4) * (input[0] - 4) + 0.5 * input[1]; }

MatrixXd Draw(Eigen::Index count, Random* random) {
  MatrixXd inputs(3, count);
  for (auto input : inputs.colwise()) {
    input << static_cast<double>(random->Below(10)), static_cast<double>(random->Below(3)),
        static_cast<double>(random->Below(10));
  }
  return inputs;
}

GaussianProcess Fitted(Eigen::Index observations, double noise) {
  Random random(11);
  const MatrixXd inputs = Draw(observations, &random);
  VectorXd values(observations);
  for (Eigen::Index i = 0; i < observations; ++i) values[i] = Value(inputs.col(i)) + noise * (2 * random.Real() - 1);
  GaussianProcess process(3);
  process.Fit(inputs, values);
  return process;
}

TEST(GaussianProcessTest, PredictsWhatItHasNotSeen) {
  const GaussianProcess process = Fitted(60, 0.05);
  Random random(12);
  const MatrixXd inputs = Draw(50, &random);
  const VectorXd means = process.Predict(inputs).means;
  for (Eigen::Index i = 0; i < inputs.cols(); ++i) EXPECT_NEAR(means[i], Value(inputs.col(i)), 0.8);
}

TEST(GaussianProcessTest, PredictsEachInputAsIfItWereAlone) {
  const GaussianProcess process = Fitted(60, 0.05);
  Random random(13);
  const MatrixXd inputs = Draw(7, &random);
  const GaussianProcess::Predictions together = process.Predict(inputs);
  EXPECT_TRUE(process.PredictMeans(inputs).isApprox(together.means));
  for (Eigen::Index i = 0; i < inputs.cols(); ++i) {
    const GaussianProcess::Predictions alone = process.Predict(inputs.col(i));
    EXPECT_NEAR(alone.means[0], together.means[i], 1e-9);
    EXPECT_NEAR(alone.deviations[0], together.deviations[i], 1e-9);
  }
}

TEST(GaussianProcessTest, KnowsWhereItKnowsLittle) {
  const GaussianProcess process = Fitted(60, 0);
  MatrixXd inputs(3, 2);
  inputs.col(0) << 4, 1, 5;
  inputs.col(1) << 40, 1, 5;
  const VectorXd deviations = process.Predict(inputs).deviations;
  EXPECT_LT(deviations[0], deviations[1]);
}

TEST(GaussianProcessTest, FindsOutWhatMatters) {
  const GaussianProcess process = Fitted(60, 0.05);
  const Vector3d here(4, 1, 4);
  MatrixXd others(3, 3);
  others.col(0) = here;
  others.col(1) << 4, 1, 9;
  others.col(2) << 9, 1, 4;
  const MatrixXd correlations = process.Correlations(here, others);
  EXPECT_NEAR(correlations(0, 0), 1, 1e-12);
  EXPECT_GT(correlations(0, 1), correlations(0, 2));
}

// The Matern 5/2 kernel of the distance, also for inputs that are close to each other and far from 0.
TEST(GaussianProcessTest, CorrelationsFallWithTheDistance) {
  const GaussianProcess process(3);
  const MatrixXd here = Vector3d(500, 400, 300);
  for (const double distance : {1e-3, 0.1, 1.0, 10.0}) {
    const MatrixXd there = here + Vector3d(0, distance, 0);
    const double scaled = std::sqrt(5.0) * Assumptions::For(3).relevances[1] * distance;
    const double expected = (1 + scaled + scaled * scaled / 3) * std::exp(-scaled);
    EXPECT_NEAR(process.Correlations(here, there)(0, 0), expected, 1e-9) << distance;
  }
}

TEST(GaussianProcessTest, TakesValuesThatAreAllAlikeAndInputsTwice) {
  GaussianProcess process(1);
  process.Fit(Eigen::RowVector3d(1, 1, 2), Vector3d(5, 5, 5));
  EXPECT_NEAR(process.PredictMeans(MatrixXd::Constant(1, 1, 1))[0], 5, 1e-6);
  EXPECT_TRUE(std::isfinite(process.Predict(MatrixXd::Constant(1, 1, 7)).deviations[0]));
  process.Fit(MatrixXd::Constant(1, 1, 1), VectorXd::Constant(1, 2));
  EXPECT_NEAR(process.PredictMeans(MatrixXd::Constant(1, 1, 1))[0], 2, 1e-6);
}

TEST(AssumptionsTest, AFeatureWithoutEffectLosesItsRelevance) {
  Random random(14);
  const MatrixXd inputs = Draw(60, &random);
  VectorXd values(60);
  for (Eigen::Index i = 0; i < values.size(); ++i) values[i] = Value(inputs.col(i));
  Assumptions assumptions = Assumptions::For(3);
  FitAssumptions(inputs, values.array() - values.mean(), /*rounds=*/3, &assumptions);
  EXPECT_LT(assumptions.relevances[2], assumptions.relevances[0] / 4);
}

}  // namespace
}  // namespace telemetry::worker::tune::search
