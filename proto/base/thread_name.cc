#include "proto/base/thread_name.h"

#include <sys/prctl.h>

namespace telemetry {

// Unlike pthread_setname_np, prctl cuts a longer name off. An error only costs the name.
void NameThread(const char* name) { prctl(PR_SET_NAME, name); }

}  // namespace telemetry
