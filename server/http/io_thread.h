#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"

namespace telemetry::http {

// Passes work to the thread of a server. May outlive the thread; work that comes later is discarded. Thread-safe.
class IoQueue {
 public:
  explicit IoQueue(boost::asio::io_context& io) : io_(&io) {}

  void Post(absl::AnyInvocable<void()> work) ABSL_LOCKS_EXCLUDED(mutex_);
  // Work that comes later is discarded.
  void Close() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  absl::Mutex mutex_;
  boost::asio::io_context* io_ ABSL_GUARDED_BY(mutex_);  // nullptr: closed
};

// The thread that runs the operations of a server's connections. The destructor destroys the pending operations with
// everything that they hold.
class IoThread {
 public:
  IoThread() = default;
  ~IoThread() { Stop(); }

  boost::asio::io_context& context() { return io_; }
  const std::shared_ptr<IoQueue>& queue() const { return queue_; }

  // Must be called once only.
  void Start();
  // Ends the thread. The operations stay pending.
  void Stop();

 private:
  boost::asio::io_context io_{1};
  const boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_ =
      boost::asio::make_work_guard(io_);
  const std::shared_ptr<IoQueue> queue_ = std::make_shared<IoQueue>(io_);
  std::thread thread_;
};

}  // namespace telemetry::http
