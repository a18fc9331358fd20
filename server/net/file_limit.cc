#include "server/net/file_limit.h"

#include <sys/resource.h>

namespace telemetry::net {

uint64_t RaiseFileLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlimit most = {.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
  if (setrlimit(RLIMIT_NOFILE, &most) == 0) limit = most;
  return limit.rlim_cur;
}

uint64_t ConnectionsWithin(uint64_t files) { return files > kReservedFiles ? files - kReservedFiles : 0; }

}  // namespace telemetry::net
