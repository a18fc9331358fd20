#include "proto/base/cli/end_signals.h"

#include <cstdlib>

namespace telemetry::cli {
namespace {

std::atomic<bool> stop_requested = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // required because a signal handler sets it

sigset_t EndSignalSet() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

void RequestStop(int number) {
  stop_requested = true;
  ::signal(number, SIG_DFL);
}

}  // namespace

sigset_t BlockEndSignals() {
  const sigset_t signals = EndSignalSet();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

const std::atomic<bool>& StopOnEndSignals() {
  ::signal(SIGTERM, RequestStop);
  ::signal(SIGINT, RequestStop);
  return stop_requested;
}

EndSignals::EndSignals() {
  BlockEndSignals();
  thread_ = std::thread([this] { Run(); });
}

EndSignals::~EndSignals() {
  done_ = true;
  pthread_kill(thread_.native_handle(), SIGINT);  // wakes the thread, which has these signals blocked
  thread_.join();
  const sigset_t signals = EndSignalSet();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

void EndSignals::Run() {
  const sigset_t signals = EndSignalSet();
  int signal = 0;
  sigwait(&signals, &signal);
  if (done_) return;
  stop_.request_stop();
  sigwait(&signals, &signal);
  if (!done_) std::_Exit(EXIT_FAILURE);
}

}  // namespace telemetry::cli
