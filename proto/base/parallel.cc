#include "proto/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace telemetry {

void ForEachPart(size_t size, size_t part, absl::FunctionRef<void(size_t begin, size_t end)> work) {
  const size_t parts = (size + part - 1) / part;
  std::atomic<size_t> next = 0;
  const auto take_parts = [&] {
    for (size_t i = next++; i < parts; i = next++) work(i * part, std::min(size, (i + 1) * part));
  };
  const size_t threads = std::min<size_t>(parts, std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::thread> others;
  for (size_t i = 1; i < threads; ++i) others.emplace_back(take_parts);
  take_parts();
  for (std::thread& other : others) other.join();
}

}  // namespace telemetry
