#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace telemetry::faults {

// Connections that stay open until it is destroyed. Not thread-safe.
class Flood {
 public:
  // `host`: the last number of the address 127.0.0.x that they come from; `words`: sent on each.
  Flood(int port, uint32_t host, std::string words) : port_(port), host_(host), words_(std::move(words)) {}
  ~Flood();
  Flood(const Flood&) = delete;
  Flood& operator=(const Flood&) = delete;

  // Ends the program when it may not open so many files.
  void Connect(int count);

 private:
  void ConnectOnce();

  const int port_;
  const uint32_t host_;
  const std::string words_;
  std::vector<int> fds_;
};

}  // namespace telemetry::faults
