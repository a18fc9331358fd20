#include "tests/server/access/log_capture.h"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <mutex>

namespace telemetry::access {

class LogCapture::Lines : public spdlog::sinks::base_sink<std::mutex> {
 public:
  std::string text() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return text_;
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    text_.append(line.data(), line.size());
  }
  void flush_() override {}

 private:
  std::string text_;
};

LogCapture::LogCapture() : lines_(std::make_shared<Lines>()), before_(spdlog::default_logger()) {
  auto logger = std::make_shared<spdlog::logger>("captured", lines_);
  logger->set_level(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
}

LogCapture::~LogCapture() { spdlog::set_default_logger(before_); }

std::string LogCapture::text() const { return lines_->text(); }

size_t LogCapture::Count(const std::string& words) const {
  const std::string all = text();
  size_t count = 0;
  for (size_t at = all.find(words); at != std::string::npos; at = all.find(words, at + 1)) ++count;
  return count;
}

}  // namespace telemetry::access
