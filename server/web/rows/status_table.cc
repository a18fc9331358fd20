#include "server/web/rows/status_table.h"

#include "proto/base/status_macros.h"
#include "server/web/json/clean_text.h"

namespace telemetry::web::rows {
namespace {

// Beyond this key, statuses are shown by number.
constexpr int64_t kMostStatuses = 10000;

StatusKind KindOf(std::string_view name) {
  if (name == "ok") return StatusKind::kOk;
  const bool is_open = name == "started" || name == "filtered" || name == "deduplicated";
  return is_open ? StatusKind::kNoResult : StatusKind::kFailed;
}

}  // namespace

absl::Status StatusTable::Refresh() {
  read_.Bind(last_);
  while (true) {
    ASSIGN_OR_RETURN(const bool found, read_.Step());
    if (!found) return absl::OkStatus();
    const int64_t key = read_.Int(0);
    last_ = key;
    if (key < 0 || key >= kMostStatuses) continue;
    if (key >= static_cast<int64_t>(entries_.size())) entries_.resize(static_cast<size_t>(key) + 1);
    entries_[static_cast<size_t>(key)] = {.name = json::CleanText(read_.Text(1), json::kListTextBytes),
                                          .kind = KindOf(read_.Text(1))};
  }
}

const StatusTable::Entry* StatusTable::Find(int64_t status) const {
  return status < 0 || status >= static_cast<int64_t>(entries_.size()) ? nullptr
                                                                       : &entries_[static_cast<size_t>(status)];
}

std::string StatusTable::Name(int64_t status) const {
  const Entry* const entry = Find(status);
  return entry == nullptr || entry->name.empty() ? std::to_string(status) : entry->name;
}

StatusKind StatusTable::Kind(int64_t status) const {
  const Entry* const entry = Find(status);
  return entry == nullptr ? StatusKind::kFailed : entry->kind;
}

}  // namespace telemetry::web::rows
