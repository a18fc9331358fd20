#include "proto/statistics/student.h"

#include <gtest/gtest.h>

#include <cmath>

namespace telemetry::statistics {
namespace {

// The values are those of tables of Student's t distribution.
TEST(StudentTest, HasTheQuantilesOfTables) {
  EXPECT_NEAR(StudentQuantile(0.05, 1), 12.7062, 1e-4);
  EXPECT_NEAR(StudentQuantile(0.05, 4), 2.77645, 1e-5);
  EXPECT_NEAR(StudentQuantile(0.001, 2), 31.5991, 1e-4);
  EXPECT_NEAR(StudentQuantile(0.001, 9), 4.78091, 1e-5);
  EXPECT_NEAR(StudentQuantile(0.05, 30), 2.04227, 1e-5);
  EXPECT_NEAR(StudentQuantile(0.05, 1e6), 1.95997, 1e-5);
}

TEST(StudentTest, HasTheTailsOfSimpleCases) {
  // One degree of freedom is the Cauchy distribution, two have a closed form.
  EXPECT_NEAR(StudentTail(1, 1), 0.5, 1e-12);
  for (const double t : {0.1, 1.0, 5.0, 1000.0}) {
    const double tail = 1 - t / std::sqrt(2 + t * t);
    EXPECT_NEAR(StudentTail(t, 2), tail, 1e-12) << t;
  }
  EXPECT_DOUBLE_EQ(StudentTail(0, 7.5), 1);
  EXPECT_LT(StudentTail(40, 50), 1e-35);
  EXPECT_GT(StudentTail(40, 50), 0);
}

TEST(StudentTest, QuantilesInvertTails) {
  for (const double degrees : {0.7, 3.0, 17.3, 500.0}) {
    for (const double tail : {0.9, 0.05, 1e-3, 1e-9}) {
      EXPECT_NEAR(StudentTail(StudentQuantile(tail, degrees), degrees) / tail, 1, 1e-8) << degrees << " " << tail;
    }
  }
}

}  // namespace
}  // namespace telemetry::statistics
