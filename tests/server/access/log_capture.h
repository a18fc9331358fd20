#pragma once

#include <spdlog/logger.h>

#include <memory>
#include <sstream>
#include <string>

namespace telemetry::access {

// While one lives, everything that is logged goes into it.
class LogCapture {
 public:
  LogCapture();
  ~LogCapture();

  std::string text() const;
  // How often it holds these words.
  size_t Count(const std::string& words) const;

 private:
  std::ostringstream lines_;
  const std::shared_ptr<spdlog::logger> before_;
};

}  // namespace telemetry::access
