#include "server/web/summary/text_table.h"

#include "proto/base/status_macros.h"
#include "server/web/json/clean_text.h"
#include "server/web/summary/named_text.h"

namespace telemetry::web::summary {
namespace {

constexpr size_t kMostCachedKeys = 20000;

}  // namespace

TextTable::TextTable(storage::sql::Database& scratch)
    : find_(scratch, "SELECT text FROM texts WHERE digest = ?1"),
      insert_(scratch, "INSERT INTO texts (digest, label, filter) VALUES (?1, ?2, ?3) RETURNING text") {}

absl::StatusOr<int64_t> TextTable::Key(std::optional<std::string_view> text) {
  if (!text.has_value()) return 0;
  std::string digest = TextDigest(*text);
  if (const auto cached = keys_.find(digest); cached != keys_.end()) return cached->second;
  ASSIGN_OR_RETURN(std::optional<int64_t> key, find_.Bind(storage::sql::Blob{digest}).QueryInt());
  if (!key.has_value()) {
    const std::string label = json::CleanText(*text, json::kListTextBytes);
    const std::string filter = FilterOf(*text);
    ASSIGN_OR_RETURN(key, insert_.Bind(storage::sql::Blob{digest}, label, filter).QueryInt());
  }
  if (keys_.size() >= kMostCachedKeys) keys_.clear();
  keys_.emplace(std::move(digest), *key);
  return *key;
}

}  // namespace telemetry::web::summary
