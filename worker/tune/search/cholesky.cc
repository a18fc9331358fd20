#include "worker/tune/search/cholesky.h"

#include <array>
#include <cmath>

namespace telemetry::worker::tune::search {
namespace {

// Returns the dot product. Uses four sums, because with a single sum each addition would wait for the one before.
double Dot(const double* a, const double* b, size_t size) {
  std::array<double, 4> sums = {};
  size_t i = 0;
  for (; i + 4 <= size; i += 4) {
    for (size_t k = 0; k < 4; ++k) sums[k] += a[i + k] * b[i + k];
  }
  for (; i < size; ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

bool Factorize(LowerTriangle* matrix) {
  for (size_t i = 0; i < matrix->size(); ++i) {
    double* row = matrix->row(i);
    for (size_t j = 0; j < i; ++j) row[j] = (row[j] - Dot(row, matrix->row(j), j)) / matrix->row(j)[j];
    const double rest = row[i] - Dot(row, row, i);
    if (!(rest > 0)) return false;
    row[i] = std::sqrt(rest);
  }
  return true;
}

std::vector<double> SolveLower(const LowerTriangle& lower, std::vector<double> b) {
  for (size_t i = 0; i < lower.size(); ++i) b[i] = (b[i] - Dot(lower.row(i), b.data(), i)) / lower.row(i)[i];
  return b;
}

std::vector<double> SolveUpper(const LowerTriangle& lower, std::vector<double> b) {
  for (size_t i = lower.size(); i-- > 0;) {
    const double* row = lower.row(i);
    b[i] /= row[i];
    for (size_t j = 0; j < i; ++j) b[j] -= row[j] * b[i];
  }
  return b;
}

}  // namespace telemetry::worker::tune::search
