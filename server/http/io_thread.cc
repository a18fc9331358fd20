#include "server/http/io_thread.h"

#include <boost/asio/post.hpp>
#include <utility>

namespace telemetry::http {

void IoQueue::Post(absl::AnyInvocable<void()> work) {
  const absl::MutexLock lock(&mutex_);
  if (io_ != nullptr) boost::asio::post(*io_, std::move(work));
}

void IoQueue::Close() {
  const absl::MutexLock lock(&mutex_);
  io_ = nullptr;
}

void IoThread::Start() {
  thread_ = std::thread([this] { io_.run(); });
}

void IoThread::Stop() {
  queue_->Close();
  io_.stop();
  if (thread_.joinable()) thread_.join();
}

}  // namespace telemetry::http
