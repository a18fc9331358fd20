#pragma once

#include <functional>
#include <set>
#include <string>

namespace telemetry::worker::ir::graph_record {

// A filter that passes each distinct warning on once. For one extraction, one thread. The sink must outlive it.
class IrGraphWarnings {
 public:
  using Sink = std::function<void(const std::string&)>;

  explicit IrGraphWarnings(const Sink& sink) : sink_(sink) {}
  void Warn(const std::string& text) {
    if (said_.insert(text).second && sink_) sink_(text);
  }

 private:
  const Sink& sink_;
  std::set<std::string> said_;
};

}  // namespace telemetry::worker::ir::graph_record
