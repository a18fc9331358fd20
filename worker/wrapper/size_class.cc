#include "worker/wrapper/size_class.h"

namespace telemetry::worker::wrapper {

int64_t SizeClass(int64_t bytes) {
  constexpr int64_t kSmallestStep = 512;
  if (bytes <= 0) return 0;
  int64_t step = kSmallestStep;
  while (bytes > 8 * step) step *= 2;
  return (bytes + step - 1) / step * step;
}

}  // namespace telemetry::worker::wrapper
