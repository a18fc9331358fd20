#include "server/web/rows/by_keys.h"

#include <algorithm>

namespace telemetry::web::rows {

std::vector<int64_t> InOrder(absl::Span<const int64_t> keys) {
  std::vector<int64_t> order(keys.begin(), keys.end());
  std::sort(order.begin(), order.end());
  order.erase(std::unique(order.begin(), order.end()), order.end());
  return order;
}

}  // namespace telemetry::web::rows
