#include "server/storage/tables/producer_table.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/storage/tables/cache_budgets.h"

namespace telemetry::storage::tables {
namespace {

// The node, its slot in the table, and the allocator's headers.
constexpr uint64_t kEntryBytes = 256;

std::optional<int64_t> SenderColumn(int64_t sender) {
  return sender == 0 ? std::nullopt : std::optional<int64_t>(sender);
}

}  // namespace

ProducerTable::ProducerTable(sql::Database& database)
    : find_(database,
            {.text = "SELECT epoch, committed_seq, client, coalesce(sender, 0) FROM producers WHERE producer_id = ?1",
             .lock = sql::RowLock::kUpdate}),
      add_(database,
           "INSERT INTO producers (producer_id, epoch, committed_seq, client, first_opened_unix_us, "
           "last_opened_unix_us, sender) VALUES (?1, ?2, 0, ?3, ?4, ?4, ?5) ON CONFLICT DO NOTHING"),
      reopen_(database,
              "UPDATE producers SET epoch = ?2, client = ?3, last_opened_unix_us = ?4, "
              "sender = coalesce(sender, ?5) WHERE producer_id = ?1"),
      advance_(database, "UPDATE producers SET committed_seq = ?2 WHERE producer_id = ?1") {}

absl::StatusOr<ProducerTable::Producer*> ProducerTable::Find(const std::string& producer_id) {
  if (auto it = producers_.find(producer_id); it != producers_.end()) return &it->second;
  ASSIGN_OR_RETURN(bool found, find_.Bind(sql::Blob{producer_id}).Step());
  if (!found) return nullptr;
  Producer producer{.epoch = static_cast<uint64_t>(find_.Int(0)),
                    .committed_seq = static_cast<uint64_t>(find_.Int(1)),
                    .client = find_.String(2),
                    .sender = find_.Int(3)};
  find_.Reset();
  return &Remember(producer_id, std::move(producer));
}

ProducerTable::Producer& ProducerTable::Remember(const std::string& producer_id, Producer producer) {
  bytes_ += kEntryBytes + producer.client.size();
  return producers_.insert_or_assign(producer_id, std::move(producer)).first->second;
}

void ProducerTable::Trim() {
  if (bytes_ > kProducerCacheBytes) Forget();
}

void ProducerTable::Remove(const std::string& producer_id) {
  const auto found = producers_.find(producer_id);
  if (found == producers_.end()) return;
  bytes_ -= kEntryBytes + found->second.client.size();
  producers_.erase(found);
}

void ProducerTable::Forget() {
  producers_.clear();
  advanced_.clear();
  bytes_ = 0;
}

absl::Status ProducerTable::CheckEpoch(const Producer& producer, uint64_t epoch) {
  if (epoch >= producer.epoch) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("another process took over this producer's log: it has epoch ",
                                                    producer.epoch, ", this one ", epoch));
}

absl::StatusOr<bool> ProducerTable::Add(const ProducerOpening& opening, int64_t sender, int64_t now_unix_us) {
  ASSIGN_OR_RETURN(const int64_t added, add_.Bind(sql::Blob{opening.producer_id}, opening.epoch, opening.client,
                                                  now_unix_us, SenderColumn(sender))
                                            .RunCounting());
  if (added == 0) return false;
  Remember(opening.producer_id,
           {.epoch = opening.epoch, .committed_seq = 0, .client = opening.client, .sender = sender});
  return true;
}

absl::Status ProducerTable::Reopen(Producer& producer, const ProducerOpening& opening, int64_t sender,
                                   int64_t now_unix_us) {
  RETURN_IF_ERROR(
      reopen_.Bind(sql::Blob{opening.producer_id}, opening.epoch, opening.client, now_unix_us, SenderColumn(sender))
          .Run());
  producer.epoch = opening.epoch;
  bytes_ += opening.client.size() - producer.client.size();
  producer.client = opening.client;
  if (producer.sender == 0) producer.sender = sender;
  return absl::OkStatus();
}

absl::Status ProducerTable::Save() {
  for (const auto& [id, committed_seq] : advanced_) {
    RETURN_IF_ERROR(advance_.Bind(sql::Blob{id}, committed_seq).Run());
  }
  advanced_.clear();
  return absl::OkStatus();
}

}  // namespace telemetry::storage::tables
