#include "server/storage/tables/unsent_producers.h"

#include "absl/strings/str_cat.h"
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

absl::Status UnsentProducers::CheckAdd(int64_t sender, int64_t now_unix_us) const {
  const auto found = of_sender_.find(sender);
  if (found == of_sender_.end()) return absl::OkStatus();
  const int64_t passed_us = now_unix_us - found->second.replaced_at_unix_us;
  // The clock may have been set back.
  if (passed_us < 0 || passed_us >= kReplaceEveryUs) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("this sender has opened ", kMostOfSender, " producers that have not sent anything: retry later"));
}

absl::StatusOr<std::vector<std::string>> UnsentProducers::Add(const std::string& producer_id, int64_t sender,
                                                              int64_t now_unix_us) {
  std::vector<std::string> removed;
  if (!is_loaded_) {
    RETURN_IF_ERROR(Load());
  } else {
    of_sender_[sender].ids.push_back(producer_id);
  }
  OfSender& own = of_sender_[sender];
  while (own.ids.size() > kMostOfSender && removed.size() < kMostRemovedAtOnce) {
    ASSIGN_OR_RETURN(const int64_t count, remove_.Bind(sql::Blob{own.ids.front()}).RunCounting());
    if (count > 0) own.replaced_at_unix_us = now_unix_us;
    removed.push_back(std::move(own.ids.front()));
    own.ids.pop_front();
  }
  return removed;
}

absl::Status UnsentProducers::Load() {
  list_.Reset();
  while (true) {
    ASSIGN_OR_RETURN(const bool row, list_.Step());
    if (!row) break;
    of_sender_[list_.Int(1)].ids.emplace_back(list_.Bytes(0));
  }
  is_loaded_ = true;
  return absl::OkStatus();
}

}  // namespace telemetry::storage::tables
