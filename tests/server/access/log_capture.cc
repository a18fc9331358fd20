#include "tests/server/access/log_capture.h"

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

namespace telemetry::access {

LogCapture::LogCapture() : before_(spdlog::default_logger()) {
  auto logger =
      std::make_shared<spdlog::logger>("captured", std::make_shared<spdlog::sinks::ostream_sink_mt>(lines_, true));
  logger->set_level(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
}

LogCapture::~LogCapture() { spdlog::set_default_logger(before_); }

std::string LogCapture::text() const { return lines_.str(); }

size_t LogCapture::Count(const std::string& words) const {
  const std::string all = text();
  size_t count = 0;
  for (size_t at = all.find(words); at != std::string::npos; at = all.find(words, at + 1)) ++count;
  return count;
}

}  // namespace telemetry::access
