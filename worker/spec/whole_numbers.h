#pragma once

#include "absl/types/span.h"
#include "worker/spec/expression_tree.h"
#include "worker/spec/value.h"

namespace telemetry::worker::spec {

// Evaluation of the expressions that most constraints are: comparisons of whole numbers, without errors. It takes a
// small part of the time of the general evaluation, which matters for spaces of millions of configs.

// Returns true if the tree has only operations that EvaluateWhole() knows.
bool HasOnlyWholeOperations(const Expression::Tree& tree);

// Evaluates such a tree. Returns false if a value is not a whole number, or if there is an error; the general
// evaluation then gives the result or the message.
bool EvaluateWhole(const Expression::Tree& tree, absl::Span<const Value> values, Evaluation* evaluation, Value* result);

}  // namespace telemetry::worker::spec
