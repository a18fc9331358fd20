#include "server/net/process_memory.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "absl/time/time.h"

namespace telemetry::net {
namespace {

constexpr absl::Duration kTrimMostOften = absl::Milliseconds(100);
// Other threads cannot allocate during a trim, so the pause between trims is this many times the duration of a trim.
constexpr int kTrimPause = 20;

}  // namespace

void ReturnFreeMemory() {
  // Two heaps that each keep little, and large blocks outside of them. By default glibc uses eight heaps per core, and
  // the first large block that is freed moves later blocks of its size into the heaps.
  mallopt(M_ARENA_MAX, 2);
  mallopt(M_MMAP_THRESHOLD, 256 << 10);
  mallopt(M_TRIM_THRESHOLD, 4 << 20);
}

ProcessMemory::ProcessMemory(uint64_t limit_bytes)
    : limit_bytes_(limit_bytes), statm_(open("/proc/self/statm", O_RDONLY | O_CLOEXEC)) {}

bool ProcessMemory::IsScarce() {
  if (limit_bytes_ == 0 || ResidentBytes() <= limit_bytes_) return false;
  if (SteadyNow() >= next_trim_) {
    const SteadyTime begin = SteadyNow();
    malloc_trim(0);
    next_trim_ = SteadyAfter(std::max(kTrimPause * ElapsedSince(begin), kTrimMostOften));
  }
  return ResidentBytes() > limit_bytes_;
}

uint64_t ProcessMemory::ResidentBytes() const {
  std::array<char, 128> text = {};
  unsigned long long pages = 0;
  if (pread(statm_.fd(), text.data(), text.size() - 1, 0) <= 0 || std::sscanf(text.data(), "%*u %llu", &pages) != 1) {
    return 0;
  }
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace telemetry::net
