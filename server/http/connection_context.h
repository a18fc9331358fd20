#pragma once

#include <memory>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "server/call/sender_shares.h"
#include "server/http/http_server.h"
#include "server/http/io_thread.h"
#include "server/http/origin_check.h"

namespace telemetry::http {

class Connection;

// The state that the connections of a server share. Used by the thread of the queue only.
struct ConnectionContext {
  Limits limits;
  std::optional<OriginCheck> origins;  // nullopt: Host and Origin are not checked
  std::shared_ptr<IoQueue> queue;
  Handler* handler = nullptr;
  call::SenderShares waiting_bytes;  // of responses that are being sent, by network
  // The connections whose requests the handler has, which no pending operation keeps alive.
  absl::flat_hash_set<std::shared_ptr<Connection>> answering = {};
};

}  // namespace telemetry::http
