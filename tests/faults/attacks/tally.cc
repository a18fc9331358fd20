#include "tests/faults/attacks/tally.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace telemetry::faults {

Tally::Tally(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  void* memory = MAP_FAILED;
  if (fd >= 0 && ftruncate(fd, sizeof(*count_)) == 0) {
    memory = mmap(nullptr, sizeof(*count_), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  if (memory == MAP_FAILED) {
    std::perror(path.c_str());
    std::abort();
  }
  close(fd);
  count_ = static_cast<std::atomic<uint64_t>*>(memory);
}

Tally::~Tally() { munmap(count_, sizeof(*count_)); }

}  // namespace telemetry::faults
