#include "worker/tune/tuning_turn.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "proto/base/steady.h"
#include "proto/record/strings.h"

namespace telemetry::worker::tune {
namespace {

using record::Cat;

// The time between two attempts to take a lease that another worker holds, and between two looks at `stop`.
constexpr absl::Duration kTryEvery = absl::Seconds(1);
constexpr absl::Duration kLookEvery = absl::Milliseconds(100);

bool IsStopped(const TurnOptions& options) { return options.stop != nullptr && *options.stop; }

void Tell(const std::function<void(const std::string&)>& listener, const std::string& text) {
  if (listener) listener(text);
}

// Waits for this time, or until a stop.
void Pause(absl::Duration pause, const TurnOptions& options) {
  const SteadyTime end = SteadyAfter(pause);
  while (!IsStopped(options) && SteadyNow() < end) absl::SleepFor(std::min(kLookEvery, TimeUntil(end)));
}

}  // namespace

absl::StatusOr<Turn> AwaitTurn(client::CacheClient& cache, const std::string& run_id, const TurnOptions& options) {
  Turn turn;
  auto lease = std::make_unique<client::Lease>(cache, run_id);
  const SteadyTime end = SteadyAfter(options.longest_wait);
  while (!IsStopped(options)) {
    const absl::StatusOr<absl::Duration> left = lease->TryTake();
    if (!left.ok()) {
      // The queries for known configs report a collector that is away. An older collector has no cache.
      if (!cache.is_absent() && !absl::IsUnimplemented(left.status())) {
        Tell(options.on_no_lease,
             Cat("tuning without a lease, so other workers may tune the same run at the same time: ",
                 std::string(left.status().message())));
      }
      return turn;
    }
    if (*left == absl::ZeroDuration()) {
      turn.lease = std::move(lease);
      return turn;
    }
    if (options.may_come_back) return absl::AbortedError("another worker tunes this run");
    const absl::Duration rest = TimeUntil(end);
    if (rest <= absl::ZeroDuration()) {
      Tell(options.on_waiting, Cat("another worker still tunes this run after ",
                                   absl::FormatDuration(options.longest_wait), ": not waiting any longer (--wait)"));
      return turn;
    }
    if (!std::exchange(turn.has_waited, true)) {
      Tell(options.on_waiting, Cat("another worker tunes this run: waiting for it for at most ",
                                   absl::FormatDuration(options.longest_wait), " (--wait)"));
    }
    Pause(std::min({*left, kTryEvery, rest}), options);
  }
  return turn;
}

}  // namespace telemetry::worker::tune
