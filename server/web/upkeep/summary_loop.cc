#include "server/web/upkeep/summary_loop.h"

#include <string>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/base/steady.h"
#include "proto/log/log.h"
#include "server/storage/sql/transaction.h"
#include "server/web/api/summary_event.h"
#include "server/web/summary/refresher.h"

namespace telemetry::web::upkeep {
namespace {

constexpr absl::Duration kInterval = absl::Seconds(1);

}  // namespace

SummaryLoop::SummaryLoop(Open dataset, std::unique_ptr<storage::sql::Database> scratch, ServerState& state,
                         events::EventHub& hub)
    : open_dataset_(std::move(dataset)), scratch_(std::move(scratch)), state_(state), hub_(hub), thread_([this] {
        Run();
      }) {}

SummaryLoop::~SummaryLoop() {
  is_stopping_ = true;
  hub_.Close();
  thread_.join();
}

void SummaryLoop::Run() {
  absl::Status last;
  while (!is_stopping_) {
    absl::StatusOr<std::unique_ptr<storage::sql::Database>> dataset = open_dataset_();
    const absl::Status status = dataset.ok() ? RunWith(**dataset) : dataset.status();
    if (!status.ok() && status != last) log::Warn("cannot update the summaries", {{"reason", status.ToString()}});
    last = status;
    const SteadyTime next = SteadyAfter(kInterval);
    while (!is_stopping_ && SteadyNow() < next) hub_.AwaitOpened(next), static_cast<void>(Publish(/*changed=*/false));
  }
}

absl::Status SummaryLoop::RunWith(storage::sql::Database& dataset) {
  summary::Refresher refresher(dataset, *scratch_);
  while (!is_stopping_) {
    const SteadyTime next = SteadyAfter(kInterval);
    ASSIGN_OR_RETURN(const bool changed, refresher.Refresh());
    state_.Set(refresher.progress());
    RETURN_IF_ERROR(Publish(changed));
    // A stream that is opened meanwhile gets its first summary without delay.
    while (!is_stopping_ && refresher.progress().complete && SteadyNow() < next) {
      hub_.AwaitOpened(next);
      RETURN_IF_ERROR(Publish(/*changed=*/false));
    }
  }
  return absl::OkStatus();
}

absl::Status SummaryLoop::Publish(bool changed) {
  ASSIGN_OR_RETURN(const storage::sql::Transaction reading, storage::sql::Transaction::BeginRead(*scratch_));
  return hub_.Publish(changed,
                      [this](const std::string& run_id) { return api::MakeSummaryEvent(*scratch_, state_, run_id); });
}

}  // namespace telemetry::web::upkeep
