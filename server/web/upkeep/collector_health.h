#pragma once

#include <string>

#include "absl/time/time.h"
#include "proto/access/credentials.h"
#include "server/web/server_state.h"

namespace telemetry::web::upkeep {

// Asks a collector for its health (grpc.health.v1), which needs no token. Waits for the answer, up to `timeout`.
CollectorHealth AskHealth(const std::string& address, const access::Credentials& credentials, absl::Duration timeout);

}  // namespace telemetry::web::upkeep
