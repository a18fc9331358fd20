#pragma once

#include <coroutine>
#include <exception>
#include <utility>

#include "absl/status/status.h"

namespace telemetry::storage::readers {

// A coroutine that traverses something step by step and may wait for other walks: co_await runs one to its end and
// returns its status. A walk starts when it is resumed or awaited. Used by one thread at a time, not always the same
// one.
class [[nodiscard]] Walk {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  // Resumes the coroutine that waits for the walk that has ended.
  struct Return {
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(Handle ended) const noexcept;
    void await_resume() const noexcept {}
  };
  struct promise_type {
    Walk get_return_object() { return Walk(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    Return final_suspend() const noexcept { return {}; }
    void return_value(absl::Status value) { status = std::move(value); }
    void unhandled_exception() const noexcept { std::terminate(); }

    absl::Status status;
    std::coroutine_handle<> waiting;  // null: none
  };

  explicit Walk(Handle handle) : handle_(handle) {}
  Walk(Walk&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Walk& operator=(Walk&&) = delete;
  ~Walk() {
    if (handle_) handle_.destroy();
  }

  std::coroutine_handle<> handle() const { return handle_; }
  bool done() const { return handle_.done(); }
  // Valid once done() is true.
  const absl::Status& status() const { return handle_.promise().status; }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) noexcept {
    handle_.promise().waiting = waiting;
    return handle_;
  }
  absl::Status await_resume() noexcept { return std::move(handle_.promise().status); }

 private:
  Handle handle_;
};

inline std::coroutine_handle<> Walk::Return::await_suspend(Handle ended) const noexcept {
  const std::coroutine_handle<> waiting = ended.promise().waiting;
  return waiting ? waiting : std::noop_coroutine();
}

}  // namespace telemetry::storage::readers
