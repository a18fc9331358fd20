// Simulates a disk that stalls; loaded with LD_PRELOAD. fsync and fdatasync wait while the file named by
// TELEMETRY_STALL exists, and create a file with that name and the suffix ".waiting".

#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace {

void WaitForDisk() {
  static const char* const path = std::getenv("TELEMETRY_STALL");
  if (path == nullptr || access(path, F_OK) != 0) return;
  close(open((std::string(path) + ".waiting").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  const timespec pause = {.tv_sec = 0, .tv_nsec = 5'000'000};
  while (access(path, F_OK) == 0) nanosleep(&pause, nullptr);
}

}  // namespace

extern "C" {

int fsync(int fd) {
  WaitForDisk();
  return static_cast<int>(syscall(SYS_fsync, fd));
}

int fdatasync(int fd) {
  WaitForDisk();
  return static_cast<int>(syscall(SYS_fdatasync, fd));
}

}  // extern "C"
