#include "server/call/operation_scope.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace telemetry::call {
namespace {

struct Postponed {
  int scopes = 0;
  std::vector<absl::AnyInvocable<void()>> operations;
};

thread_local Postponed postponed;

}  // namespace

OperationScope::OperationScope() { ++postponed.scopes; }

OperationScope::~OperationScope() {
  if (postponed.scopes == 1) {
    for (size_t i = 0; i < postponed.operations.size(); ++i) std::exchange(postponed.operations[i], nullptr)();
    postponed.operations.clear();
  }
  --postponed.scopes;
}

void StartInScope(absl::AnyInvocable<void()> start) {
  if (postponed.scopes == 0) return start();
  postponed.operations.push_back(std::move(start));
}

}  // namespace telemetry::call
