#include "server/export/end_signals.h"

#include <csignal>
#include <cstdlib>

namespace telemetry::exporter {
namespace {

sigset_t Signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

}  // namespace

EndSignals::EndSignals() {
  const sigset_t signals = Signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  thread_ = std::thread([this] { Run(); });
}

EndSignals::~EndSignals() {
  done_ = true;
  pthread_kill(thread_.native_handle(), SIGINT);  // wakes the thread, which has these signals blocked
  thread_.join();
  const sigset_t signals = Signals();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

void EndSignals::Run() {
  const sigset_t signals = Signals();
  int signal = 0;
  sigwait(&signals, &signal);
  if (done_) return;
  stop_.request_stop();
  sigwait(&signals, &signal);
  if (!done_) std::_Exit(EXIT_FAILURE);
}

}  // namespace telemetry::exporter
