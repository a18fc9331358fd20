#include "server/net/process_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "absl/time/time.h"

#ifdef TELEMETRY_JEMALLOC
#include <jemalloc/jemalloc.h>

// The options of the heap (jemalloc(3), TUNING): a few heaps for all threads, whose free memory a thread of their own
// returns to the system within a fifth of a second. glibc's malloc_trim would do so, but no other thread can allocate
// meanwhile, and with some hundred MiB it takes 60 ms.
extern "C" {
const char* malloc_conf = "background_thread:true,dirty_decay_ms:200,muzzy_decay_ms:0,narenas:4";
}
#endif

namespace telemetry::net {
namespace {

constexpr absl::Duration kPurgeMostOften = absl::Milliseconds(100);

// Returns the free memory of all heaps to the system.
void Purge() {
#ifdef TELEMETRY_JEMALLOC
  static_assert(MALLCTL_ARENAS_ALL == 4096);
  mallctl("arena.4096.purge", nullptr, nullptr, nullptr, 0);
#endif
}

}  // namespace

ProcessMemory::ProcessMemory(uint64_t limit_bytes)
    : limit_bytes_(limit_bytes), statm_(open("/proc/self/statm", O_RDONLY | O_CLOEXEC)) {}

bool ProcessMemory::IsScarce() {
  if (limit_bytes_ == 0 || ResidentBytes() <= limit_bytes_) return false;
  if (SteadyNow() >= next_purge_) {
    Purge();
    next_purge_ = SteadyAfter(kPurgeMostOften);
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
