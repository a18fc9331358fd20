// Describes the synchronisation of absl::Mutex and absl::Notification to ThreadSanitizer. The distribution's Abseil is
// built without the sanitizer, which therefore does not see its locks and reports races on everything that a mutex
// guards, and on everything that was written before a notification and is read after it. The linker redirects our calls
// of the functions below to these wrappers (--wrap). Each wrapper reports the ordering to the sanitizer and calls the
// real function.

#include <sanitizer/tsan_interface.h>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

// Declared by the sanitizer's runtime library.
extern "C" void AnnotateIgnoreReadsBegin(const char* file, int line);
extern "C" void AnnotateIgnoreReadsEnd(const char* file, int line);

namespace {

// A scope in which the sanitizer ignores reads. The thread that unlocks a mutex reads the conditions of waiting
// threads, which are on the stacks of those threads.
class IgnoreConditions {
 public:
  IgnoreConditions() { AnnotateIgnoreReadsBegin(__FILE__, __LINE__); }
  ~IgnoreConditions() { AnnotateIgnoreReadsEnd(__FILE__, __LINE__); }
  IgnoreConditions(const IgnoreConditions&) = delete;
  IgnoreConditions& operator=(const IgnoreConditions&) = delete;
};

// Returns the address of the state of a notification, which follows its mutex. HasBeenNotified(), which is inline,
// reads the state with acquire order, and the sanitizer sees that.
void* State(const absl::Notification* notification) {
  return const_cast<char*>(reinterpret_cast<const char*>(notification)) + sizeof(absl::Mutex);
}

}  // namespace

#define TELEMETRY_WRAP(result, name, ...)       \
  extern "C" result __real_##name(__VA_ARGS__); \
  extern "C" result __wrap_##name(__VA_ARGS__)

TELEMETRY_WRAP(void, _ZN4absl7debian35Mutex4LockEv, absl::Mutex* mutex) {
  __real__ZN4absl7debian35Mutex4LockEv(mutex);
  __tsan_acquire(mutex);
}

TELEMETRY_WRAP(void, _ZN4absl7debian35Mutex6UnlockEv, absl::Mutex* mutex) {
  __tsan_release(mutex);
  const IgnoreConditions ignore;
  __real__ZN4absl7debian35Mutex6UnlockEv(mutex);
}

// A wait releases the lock and acquires it again.
TELEMETRY_WRAP(void, _ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE, absl::Mutex* mutex, const absl::Condition& until) {
  __tsan_release(mutex);
  const IgnoreConditions ignore;
  __real__ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE(mutex, until);
  __tsan_acquire(mutex);
}

TELEMETRY_WRAP(bool, _ZN4absl7debian35Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE, absl::Mutex* mutex,
               const absl::Condition& until, absl::Duration timeout) {
  __tsan_release(mutex);
  const IgnoreConditions ignore;
  const bool met =
      __real__ZN4absl7debian35Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE(mutex, until, timeout);
  __tsan_acquire(mutex);
  return met;
}

TELEMETRY_WRAP(bool, _ZN4absl7debian35Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE, absl::Mutex* mutex,
               const absl::Condition& until, absl::Time deadline) {
  __tsan_release(mutex);
  const IgnoreConditions ignore;
  const bool met = __real__ZN4absl7debian35Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE(mutex, until, deadline);
  __tsan_acquire(mutex);
  return met;
}

TELEMETRY_WRAP(void, _ZN4absl7debian312Notification6NotifyEv, absl::Notification* notification) {
  __tsan_release(State(notification));
  __real__ZN4absl7debian312Notification6NotifyEv(notification);
}

TELEMETRY_WRAP(void, _ZNK4absl7debian312Notification19WaitForNotificationEv, const absl::Notification* notification) {
  __real__ZNK4absl7debian312Notification19WaitForNotificationEv(notification);
  __tsan_acquire(State(notification));
}

TELEMETRY_WRAP(bool, _ZNK4absl7debian312Notification30WaitForNotificationWithTimeoutENS0_8DurationE,
               const absl::Notification* notification, absl::Duration timeout) {
  const bool notified =
      __real__ZNK4absl7debian312Notification30WaitForNotificationWithTimeoutENS0_8DurationE(notification, timeout);
  if (notified) __tsan_acquire(State(notification));
  return notified;
}

TELEMETRY_WRAP(bool, _ZNK4absl7debian312Notification31WaitForNotificationWithDeadlineENS0_4TimeE,
               const absl::Notification* notification, absl::Time deadline) {
  const bool notified =
      __real__ZNK4absl7debian312Notification31WaitForNotificationWithDeadlineENS0_4TimeE(notification, deadline);
  if (notified) __tsan_acquire(State(notification));
  return notified;
}
