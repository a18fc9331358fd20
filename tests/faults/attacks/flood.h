#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace telemetry::faults {

// A set of connections that stay open until the object is destroyed. Not thread-safe.
class Flood {
 public:
  // `host` is the last number of the source address 127.0.0.x; `words` is sent on each connection.
  Flood(int port, uint32_t host, std::string words) : port_(port), host_(host), words_(std::move(words)) {}
  ~Flood();
  Flood(const Flood&) = delete;
  Flood& operator=(const Flood&) = delete;

  // Opens `count` more connections. Ends the program if it may not open that many files.
  void Connect(int count);

 private:
  void ConnectOnce();

  const int port_;
  const uint32_t host_;
  const std::string words_;
  std::vector<int> fds_;
};

}  // namespace telemetry::faults
