#include "proto/statistics/student.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace telemetry::statistics {
namespace {

namespace policies = boost::math::policies;

// Results beyond the range of a double become infinity or 0, without an exception.
using Distribution = boost::math::students_t_distribution<
    double, policies::policy<policies::promote_double<false>, policies::domain_error<policies::ignore_error>,
                             policies::overflow_error<policies::ignore_error>,
                             policies::evaluation_error<policies::ignore_error>>>;

}  // namespace

double StudentTail(double t, double degrees) {
  return 2 * boost::math::cdf(boost::math::complement(Distribution(degrees), std::abs(t)));
}

double StudentQuantile(double tail, double degrees) {
  return boost::math::quantile(boost::math::complement(Distribution(degrees), tail / 2));
}

}  // namespace telemetry::statistics
