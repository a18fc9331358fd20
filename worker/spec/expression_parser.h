#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/spec/expression_tree.h"

namespace telemetry::worker::spec {

// Parses a text into a tree; see Expression::Compile.
absl::StatusOr<std::shared_ptr<const Expression::Tree>> ParseExpression(std::string_view text,
                                                                        absl::Span<const std::string> names);

}  // namespace telemetry::worker::spec
