#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sql/database.h"
#include "server/web/events/event_hub.h"
#include "server/web/server_state.h"

namespace telemetry::web::upkeep {

// The thread that keeps the summaries up to date, and tells clients of changes, at most once a second.
class SummaryLoop {
 public:
  using Open = std::function<absl::StatusOr<std::unique_ptr<storage::sql::Database>>()>;

  // `dataset` is opened again after an error; `scratch` is the connection that writes the summaries. `state` and `hub`
  // must outlive the loop.
  SummaryLoop(Open dataset, std::unique_ptr<storage::sql::Database> scratch, ServerState& state, events::EventHub& hub);
  // Ends the thread. Blocks until it has finished its step.
  ~SummaryLoop();

 private:
  void Run();
  // Refreshes the summaries until the end or an error.
  absl::Status RunWith(storage::sql::Database& dataset);
  absl::Status Publish(bool changed);

  const Open open_dataset_;
  const std::unique_ptr<storage::sql::Database> scratch_;
  ServerState& state_;
  events::EventHub& hub_;
  std::atomic<bool> is_stopping_ = false;
  std::thread thread_;  // declared last, because it uses all members above
};

}  // namespace telemetry::web::upkeep
