// Shifts the wall clock of a program; loaded with LD_PRELOAD. The file named by TELEMETRY_CLOCK_SHIFT contains the
// number of seconds that the clock is ahead, as text of at most 31 characters, and may change at any time. Calls that
// wait until a wall-clock time (Abseil's futexes) use the shifted clock, as if the clock of the machine had been set.

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>

namespace {

using Syscall = long (*)(long, ...);

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kLook = 20'000'000;  // nanoseconds until a waiter notices that the clock was set

int64_t ShiftNs() {
  static const int file = [] {
    const char* path = std::getenv("TELEMETRY_CLOCK_SHIFT");
    return path == nullptr ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  }();
  char text[32] = {};
  if (file < 0 || pread(file, text, sizeof(text) - 1, 0) <= 0) return 0;
  return std::strtoll(text, nullptr, 10) * kSecond;
}

long Call(long number, long a, long b, long c = 0, long d = 0, long e = 0, long f = 0) {
  // This must not be a static with a guard, because threads wait for the guard with this same call.
  static constinit std::atomic<Syscall> real = nullptr;
  if (real.load() == nullptr) real = reinterpret_cast<Syscall>(dlsym(RTLD_NEXT, "syscall"));
  return real.load()(number, a, b, c, d, e, f);
}

int64_t NowNs(clockid_t clock) {
  timespec now = {};
  Call(SYS_clock_gettime, clock, reinterpret_cast<long>(&now));
  return now.tv_sec * kSecond + now.tv_nsec;
}

timespec ToTimespec(int64_t ns) { return {.tv_sec = ns / kSecond, .tv_nsec = ns % kSecond}; }

int64_t ShiftedNow() { return NowNs(CLOCK_REALTIME) + ShiftNs(); }

// Waits until a time of the shifted clock, in repeated short waits on the real clock.
long Wait(long word, long operation, long value, const timespec& until, long mask) {
  const int64_t deadline = until.tv_sec > INT64_MAX / kSecond - 1 ? INT64_MAX : until.tv_sec * kSecond + until.tv_nsec;
  while (true) {
    const int64_t left = deadline - ShiftedNow();
    const timespec slice = ToTimespec(NowNs(CLOCK_MONOTONIC) + std::clamp<int64_t>(left, 0, kLook));
    const long result =
        Call(SYS_futex, word, operation & ~FUTEX_CLOCK_REALTIME, value, reinterpret_cast<long>(&slice), 0, mask);
    if (result == 0 || errno != ETIMEDOUT || left <= kLook) return result;
  }
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) {
    *time = ToTimespec(ShiftedNow());
    return 0;
  }
  return static_cast<int>(Call(SYS_clock_gettime, clock, reinterpret_cast<long>(time)));
}

int gettimeofday(timeval* time, void* /*zone*/) noexcept {
  const int64_t now = ShiftedNow();
  *time = {.tv_sec = now / kSecond, .tv_usec = now % kSecond / 1000};
  return 0;
}

time_t time(time_t* result) noexcept {
  const time_t now = ShiftedNow() / kSecond;
  if (result != nullptr) *result = now;
  return now;
}

long syscall(long number, ...) noexcept {
  va_list list;
  va_start(list, number);
  long a[6];
  for (long& argument : a) argument = va_arg(list, long);
  va_end(list);
  const long operation = a[1] & ~FUTEX_PRIVATE_FLAG;
  const auto* until = reinterpret_cast<const timespec*>(a[3]);
  if (number == SYS_futex && operation == (FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME) && until != nullptr) {
    return Wait(a[0], a[1], a[2], *until, a[5]);
  }
  return Call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

}  // extern "C"
