#pragma once

#include <spdlog/logger.h>

#include <memory>
#include <string>

namespace telemetry::access {

// Captures everything that is logged during its lifetime. Thread-safe.
class LogCapture {
 public:
  LogCapture();
  ~LogCapture();

  std::string text() const;
  // Returns the number of occurrences of `words`.
  size_t Count(const std::string& words) const;

 private:
  class Lines;

  const std::shared_ptr<Lines> lines_;
  const std::shared_ptr<spdlog::logger> before_;
};

}  // namespace telemetry::access
