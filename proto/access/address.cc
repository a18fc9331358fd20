#include "proto/access/address.h"

#include <arpa/inet.h>

#include <string>

namespace telemetry::access {
namespace {

bool IsLoopbackV4(const std::string& host) {
  constexpr uint32_t kLoopbackNet = 127;
  in_addr address;
  return inet_pton(AF_INET, host.c_str(), &address) == 1 && ntohl(address.s_addr) >> 24 == kLoopbackNet;
}

}  // namespace

bool StaysOnThisMachine(std::string_view address) {
  if (address.starts_with("unix:") || address.starts_with("unix-abstract:")) return true;
  const std::string host(address.substr(0, address.rfind(':')));
  return host == "localhost" || host == "[::1]" || IsLoopbackV4(host);
}

}  // namespace telemetry::access
