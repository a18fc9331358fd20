#pragma once

#include <vector>

namespace telemetry::statistics {

// Returns the p-values adjusted for their number, in their order: if nothing has changed anywhere, the probability that
// any of the results is at most x is at most x, also for tests that depend on each other. S. Holm, A simple
// sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6 (1979).
std::vector<double> AdjustByHolm(const std::vector<double>& p_values);

}  // namespace telemetry::statistics
