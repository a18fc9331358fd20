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

}  // namespace telemetry::access
