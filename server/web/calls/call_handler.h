#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "server/http/message.h"
#include "server/web/calls/answer_cache.h"
#include "server/web/calls/reader.h"
#include "server/web/calls/worker_pool.h"
#include "server/web/server_state.h"

namespace telemetry::web::calls {

// Answers the calls of the API on a few threads, each with its own connections to the databases. Thread-safe.
class CallHandler {
 public:
  static constexpr size_t kThreads = 4;
  // The most calls of one network that wait. A browser has at most six connections.
  static constexpr size_t kMostWaiting = 64;

  // Returns an error when the client may no longer read.
  using Admit = std::function<absl::Status()>;

  // `state` must outlive the handler.
  CallHandler(Sources sources, const ServerState& state);

  // Answers a request below /api/v1. `admit` is asked again for each page of a long answer.
  void Handle(http::Request request, Admit admit, const http::Handler::Respond& respond);
  // Ends the threads. Later requests are refused.
  void Stop() { pool_.Stop(); }
  size_t waiting() const { return pool_.waiting(); }

 private:
  void Answer(const KnownCall& call, const std::string& network, const Admit& admit, size_t worker,
              const http::Handler::Respond& respond);
  absl::StatusOr<http::Response> AnswerAtOnce(const KnownCall& call, size_t worker);
  absl::StatusOr<http::Response> AnswerAllPages(const KnownCall& call, const std::string& network, const Admit& admit,
                                                size_t worker);

  const Sources sources_;
  AnswerCache answers_{AnswerCache::Options()};
  std::vector<Reader> readers_;  // one for each thread of the pool
  WorkerPool pool_;              // last member: its threads use all of the above
};

}  // namespace telemetry::web::calls
