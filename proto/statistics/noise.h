#pragma once

#include <optional>
#include <vector>

namespace telemetry::statistics {

// An estimate of a variance, with its degrees of freedom (> 0, not necessarily a whole number).
struct Variance {
  double value = 0;
  double degrees = 0;
};

// Returns the variance that is common to several groups, as a prior for the variance of each: `degrees` is the larger,
// the more similar the variances are, and at most the sum of the groups' degrees. nullopt: there are fewer than two
// groups.
//
// The groups' true variances are taken as samples of a scaled inverse chi-squared distribution, whose parameters are
// fitted to the moments of the logarithms of `groups`: G. K. Smyth, Linear models and empirical Bayes methods for
// assessing differential expression in microarray experiments, Statistical Applications in Genetics and Molecular
// Biology 3 (2004), article 3, section 6.2.
std::optional<Variance> FitPrior(const std::vector<Variance>& groups);

// Returns the variance of a group after its own estimate and the prior are combined: the mean of both, weighted by
// their degrees of freedom, which are added. One of them may be missing; nullopt if both are.
std::optional<Variance> Moderate(const std::optional<Variance>& own, const std::optional<Variance>& prior);

}  // namespace telemetry::statistics
