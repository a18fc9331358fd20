#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/base/steady.h"
#include "server/http/message.h"

namespace telemetry::web::events {

// One client's stream of server-sent events. A client that reads slowly misses events: only the newest one waits for
// it. Thread-safe.
class EventStream final : public http::BodyStream {
 public:
  // Returns an error when the client may no longer read.
  using Admit = std::function<absl::Status()>;

  EventStream(std::string run_id, Admit admit) : run_id_(std::move(run_id)), admit_(std::move(admit)) {}

  bool Take(std::string* text, std::function<void()> wake) override ABSL_LOCKS_EXCLUDED(mutex_);
  void Close() override ABSL_LOCKS_EXCLUDED(mutex_);

  // Replaces the event that waits. An empty text is a comment that keeps the connection alive.
  void Send(std::string_view name, std::string_view data) ABSL_LOCKS_EXCLUDED(mutex_);
  // Sends signed_out and ends the stream if the client may no longer read.
  void CheckAdmission();

  const std::string& run_id() const { return run_id_; }
  bool is_open() const ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Duration SilentFor() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  const std::string run_id_;  // empty: none
  const Admit admit_;
  mutable absl::Mutex mutex_;
  std::string ready_ ABSL_GUARDED_BY(mutex_);
  bool is_open_ ABSL_GUARDED_BY(mutex_) = true;
  bool is_last_ ABSL_GUARDED_BY(mutex_) = false;  // the stream ends after ready_
  SteadyTime last_ ABSL_GUARDED_BY(mutex_) = SteadyNow();
  std::function<void()> wake_ ABSL_GUARDED_BY(mutex_);
};

// The open streams of events. Thread-safe.
class EventHub {
 public:
  static constexpr size_t kMostStreams = 256;
  static constexpr size_t kMostOfNetwork = 64;
  static constexpr absl::Duration kComment = absl::Seconds(15);

  // Returns the data of the event `summary` for a client that follows this run; empty: none.
  using MakeSummary = std::function<absl::StatusOr<std::string>(const std::string& run_id)>;

  // Opens a stream, which receives a summary at once. Returns nullptr if there are too many streams.
  std::shared_ptr<EventStream> Open(const std::string& network, std::string run_id, EventStream::Admit admit)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Waits until a stream is opened, at most until `deadline`.
  void AwaitOpened(SteadyTime deadline) ABSL_LOCKS_EXCLUDED(mutex_);
  // Sends the summary to all streams if `changed`, else to those that had none yet; sends comments; ends the streams of
  // clients that may no longer read. Returns the first error of `make`.
  absl::Status Publish(bool changed, const MakeSummary& make) ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends all streams.
  void Close() ABSL_LOCKS_EXCLUDED(mutex_);
  size_t size() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Client {
    std::shared_ptr<EventStream> stream;
    std::string network;
    bool is_new = true;
  };
  std::vector<Client> TakeOpen() ABSL_LOCKS_EXCLUDED(mutex_);

  mutable absl::Mutex mutex_;
  SteadyCondition opened_;
  bool has_opened_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<Client> clients_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace telemetry::web::events
