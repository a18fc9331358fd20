#pragma once

#include <cstddef>
#include <vector>

namespace telemetry::worker::tune {

// The lower triangle of a symmetric matrix, by rows.
class LowerTriangle {
 public:
  explicit LowerTriangle(size_t size) : size_(size), values_(size * (size + 1) / 2) {}
  size_t size() const { return size_; }
  double* row(size_t i) { return values_.data() + i * (i + 1) / 2; }
  const double* row(size_t i) const { return values_.data() + i * (i + 1) / 2; }

 private:
  size_t size_;
  std::vector<double> values_;
};

// Puts L in its place, where L L^T is the matrix. False: it is not positive definite, and is of no use any more.
bool Factorize(LowerTriangle* matrix);
// x of L x = b.
std::vector<double> SolveLower(const LowerTriangle& lower, std::vector<double> b);
// x of L^T x = b.
std::vector<double> SolveUpper(const LowerTriangle& lower, std::vector<double> b);

}  // namespace telemetry::worker::tune
