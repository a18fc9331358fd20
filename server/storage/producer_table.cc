#include "server/storage/producer_table.h"

#include "absl/strings/str_cat.h"

namespace telemetry::storage {
namespace {

constexpr size_t kMostCachedProducers = 1 << 16;

}  // namespace

ProducerTable::ProducerTable(Database& database)
    : find_(database, "SELECT epoch, committed_seq, client, ifnull(sender, 0) FROM producers WHERE producer_id = ?1"),
      open_(database,
            "INSERT INTO producers (producer_id, epoch, committed_seq, client, first_opened_unix_us, "
            "last_opened_unix_us, sender) VALUES (?1, ?2, 0, ?3, ?4, ?4, nullif(?5, 0)) ON CONFLICT DO UPDATE SET "
            "epoch = excluded.epoch, client = excluded.client, last_opened_unix_us = excluded.last_opened_unix_us, "
            "sender = ifnull(sender, excluded.sender)"),
      advance_(database, "UPDATE producers SET committed_seq = ?2 WHERE producer_id = ?1") {}

absl::StatusOr<ProducerTable::Producer*> ProducerTable::Find(const std::string& producer_id) {
  if (auto it = producers_.find(producer_id); it != producers_.end()) return &it->second;
  absl::StatusOr<bool> found = find_.Bind(Blob{producer_id}).Step();
  if (!found.ok()) return found.status();
  if (!*found) return nullptr;
  Producer producer{.epoch = static_cast<uint64_t>(find_.Int(0)),
                    .committed_seq = static_cast<uint64_t>(find_.Int(1)),
                    .client = std::string(find_.Text(2)),
                    .sender = find_.Int(3)};
  find_.Reset();
  return &producers_.emplace(producer_id, std::move(producer)).first->second;
}

absl::Status ProducerTable::CheckEpoch(const Producer& producer, uint64_t epoch) {
  if (epoch >= producer.epoch) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("another process took over this producer's log: it has epoch ",
                                                    producer.epoch, ", this one ", epoch));
}

absl::StatusOr<uint64_t> ProducerTable::Open(const std::string& producer_id, uint64_t epoch, const std::string& client,
                                             int64_t sender, int64_t now_unix_us) {
  absl::StatusOr<Producer*> known = Find(producer_id);
  if (!known.ok()) return known.status();
  if (*known != nullptr) {
    if (absl::Status status = CheckEpoch(**known, epoch); !status.ok()) return status;
  }
  absl::Status status = open_.Bind(Blob{producer_id}, epoch, client, now_unix_us, sender).Run();
  if (!status.ok()) return status;
  if (*known == nullptr) known = &producers_[producer_id];
  (*known)->epoch = epoch;
  (*known)->client = client;
  if ((*known)->sender == 0) (*known)->sender = sender;
  return (*known)->committed_seq;
}

absl::Status ProducerTable::Save() {
  for (auto& [id, producer] : producers_) {
    if (!producer.dirty) continue;
    if (absl::Status status = advance_.Bind(Blob{id}, producer.committed_seq).Run(); !status.ok()) return status;
    producer.dirty = false;
  }
  // Only here does nobody hold a pointer.
  if (producers_.size() > kMostCachedProducers) producers_.clear();
  return absl::OkStatus();
}

}  // namespace telemetry::storage
