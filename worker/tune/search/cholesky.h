#pragma once

#include <cstddef>
#include <vector>

namespace telemetry::worker::tune::search {

// The lower triangle of a symmetric matrix, stored by rows.
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

// Replaces the matrix by its Cholesky factor L, where L L^T is the matrix. Returns false if the matrix is not positive
// definite; its content is then undefined.
bool Factorize(LowerTriangle* matrix);
// Solves L x = b and returns x.
std::vector<double> SolveLower(const LowerTriangle& lower, std::vector<double> b);
// Solves L^T x = b and returns x.
std::vector<double> SolveUpper(const LowerTriangle& lower, std::vector<double> b);

}  // namespace telemetry::worker::tune::search
