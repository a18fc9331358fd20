#pragma once

#include "absl/functional/any_invocable.h"

namespace telemetry::call {

// Postpones the gRPC operations of this thread until the end of the outermost scope, where they start in their order.
//
// While an operation starts, gRPC may read all that the client of the call sends, for as long as the client sends
// faster than it reads. The thread must therefore hold no lock that others need: each lock that is held while
// operations are started is taken after a scope has begun.
class OperationScope {
 public:
  OperationScope();
  ~OperationScope();
  OperationScope(const OperationScope&) = delete;
  OperationScope& operator=(const OperationScope&) = delete;
};

// Starts an operation at the end of the scope, or at once without a scope. The objects that `start` uses must live
// until the operation has ended, except those that it owns.
void StartInScope(absl::AnyInvocable<void()> start);

}  // namespace telemetry::call
