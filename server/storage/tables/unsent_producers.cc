#include "server/storage/tables/unsent_producers.h"

#include "proto/base/status_macros.h"

namespace telemetry::storage::tables {
namespace {

// A dataset with too many of them loses them gradually, so that no transaction is long.
constexpr size_t kMostRemovedAtOnce = 4;

}  // namespace

UnsentProducers::UnsentProducers(sql::Database& database)
    : list_(database,
            "SELECT producer_id, coalesce(sender, 0) FROM producers WHERE committed_seq = 0 "
            "ORDER BY first_opened_unix_us, producer_id"),
      remove_(database, "DELETE FROM producers WHERE producer_id = ?1 AND committed_seq = 0") {}

void UnsentProducers::Forget() {
  is_loaded_ = false;
  of_sender_.clear();
}

absl::StatusOr<std::vector<std::string>> UnsentProducers::Add(const std::string& producer_id, int64_t sender) {
  std::vector<std::string> removed;
  if (!is_loaded_) {
    RETURN_IF_ERROR(Load());
  } else {
    of_sender_[sender].push_back(producer_id);
  }
  std::deque<std::string>& ids = of_sender_[sender];
  while (ids.size() > kMostOfSender && removed.size() < kMostRemovedAtOnce) {
    RETURN_IF_ERROR(remove_.Bind(sql::Blob{ids.front()}).Run());
    removed.push_back(std::move(ids.front()));
    ids.pop_front();
  }
  return removed;
}

absl::Status UnsentProducers::Load() {
  list_.Reset();
  while (true) {
    ASSIGN_OR_RETURN(const bool row, list_.Step());
    if (!row) break;
    of_sender_[list_.Int(1)].emplace_back(list_.Bytes(0));
  }
  is_loaded_ = true;
  return absl::OkStatus();
}

}  // namespace telemetry::storage::tables
