#include "server/storage/tables/known_rows.h"

#include <cstring>
#include <string>

#include "proto/record/ids.h"

namespace telemetry::storage::tables {

KnownRows::Is KnownRows::Add(int64_t attempt, uint64_t seq, std::string_view contents) {
  const std::string bytes = record::Sha256(contents);
  Digest digest = {};
  std::memcpy(digest.data(), bytes.data(), sizeof digest);
  const auto [known, is_new] = rows_.try_emplace({attempt, seq}, digest);
  if (is_new) return Is::kNew;
  return known->second == digest ? Is::kSame : Is::kOther;
}

}  // namespace telemetry::storage::tables
