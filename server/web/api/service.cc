#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"
#include "proto/record/utf8.h"
#include "server/web/api/common.h"
#include "server/web/api/endpoints.h"
#include "server/web/api/page_writer.h"
#include "server/web/summary/named_text.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;
using json::Whole;
using record::Cat;
using storage::sql::Statement;

constexpr size_t kMostBytes = size_t{64} << 10;

// Writes the member of a text that is not in the summaries as a Named.
void WriteFiltered(JsonWriter& out, std::string_view key, const Statement& row, int column) {
  out.BeginObject(key);
  WriteText(out, "label", row, column);
  out.Field("filter", row.IsNull(column) ? std::string(summary::kNullFilter) : summary::FilterOf(row.Text(column)));
  out.EndObject();
}

void WriteBytes(JsonWriter& out, std::string_view key, std::string_view bytes) {
  const std::string_view shown = bytes.substr(0, kMostBytes);
  const size_t invalid = record::FindInvalidUtf8(shown);
  // The last code point of a text may be cut.
  const bool is_text = invalid == std::string_view::npos || (shown.size() < bytes.size() && invalid + 4 > shown.size());
  out.BeginObject(key);
  if (is_text && shown.find('\0') == std::string_view::npos) {
    out.Field("text", Whole{shown});
    out.Field("hex", nullptr);
  } else {
    out.Field("text", nullptr);
    out.Field("hex", Whole{record::HexEncode(shown)});
  }
  out.Field("bytes", bytes.size());
  out.Field("truncated", shown.size() < bytes.size());
  out.EndObject();
}

absl::StatusOr<int64_t> KeyInPath(const Call& call) {
  int64_t key = 0;
  if (!absl::SimpleAtoi(call.path.front(), &key)) return absl::NotFoundError("there is no such object");
  return key;
}

// Returns the condition on the name of a sender; empty: without a name.
absl::StatusOr<std::string> NamedSender(const Call& call, const char* column) {
  ASSIGN_OR_RETURN(const std::optional<std::string> sender, call.parameters.Text("sender"));
  if (!sender.has_value()) return "1 = 1";
  if (sender->empty() || *sender == summary::kNullFilter) return Cat(column, " IS NULL");
  return Cat(column, " = ", Quoted(*sender));
}

constexpr char kRejects[] =
    "SELECT r.reject, r.received_unix_us, r.reason, substr(r.message, 1, 400), substr(r.source, 1, 400), r.line, "
    "r.origin, s.name, p.client, r.producer_id, length(r.raw) FROM rejects AS r "
    "LEFT JOIN producers AS p ON p.producer_id = r.producer_id LEFT JOIN senders AS s ON s.sender = p.sender WHERE ";

void WriteReject(JsonWriter& out, const Statement& row) {
  WriteInt(out, "reject", row, 0);
  WriteTime(out, "received_unix_ms", row, 1);
  WriteText(out, "reason", row, 2);
  WriteText(out, "message", row, 3);
  WriteText(out, "source", row, 4);
  WriteInt(out, "line", row, 5);
  WriteFiltered(out, "origin", row, 6);
  WriteText(out, "sender", row, 7);
  WriteText(out, "client", row, 8);
  WriteHex(out, "producer_id", row, 9);
  WriteInt(out, "raw_bytes", row, 10);
}

absl::StatusOr<std::string> RejectCondition(const Call& call) {
  ASSIGN_OR_RETURN(std::string condition, NamedSender(call, "s.name"));
  for (const auto& [parameter, column] :
       std::initializer_list<std::pair<const char*, const char*>>{{"reason", "r.reason"}, {"origin", "r.origin"}}) {
    ASSIGN_OR_RETURN(const std::optional<std::string> value, call.parameters.Text(parameter));
    if (value.has_value()) condition += Cat(" AND ", column, " = ", Quoted(*value));
  }
  ASSIGN_OR_RETURN(const std::optional<int64_t> since, call.parameters.Int("since"));
  if (since.has_value()) condition += Cat(" AND r.received_unix_us / 1000 >= ", *since);
  ASSIGN_OR_RETURN(const std::optional<int64_t> until, call.parameters.Int("until"));
  if (until.has_value()) condition += Cat(" AND r.received_unix_us / 1000 < ", *until);
  return condition;
}

constexpr char kCacheEntries[] =
    "SELECT e.cache_entry, substr(e.namespace, 1, 400), substr(e.key, 1, 400), s.name, e.stored_unix_us, e.size_bytes, "
    "e.attempt_id, e.hardware, e.versions_json, (SELECT r.run_id FROM attempts AS a JOIN runs AS r ON r.run = a.run "
    "WHERE a.attempt_id = e.attempt_id) FROM cache_entries AS e JOIN cache_senders AS s "
    "ON s.cache_sender = e.cache_sender WHERE ";

void WriteCacheEntry(JsonWriter& out, const Statement& row) {
  WriteInt(out, "entry", row, 0);
  WriteText(out, "namespace", row, 1);
  WriteText(out, "key", row, 2);
  WriteText(out, "sender", row, 3);
  WriteTime(out, "stored_unix_ms", row, 4);
  WriteInt(out, "size_bytes", row, 5);
  WriteHex(out, "attempt_id", row, 6);
  WriteText(out, "run_id", row, 9);
  WriteText(out, "hardware", row, 7);
  WriteText(out, "versions", row, 8);
}

// A token or a sender of the list of tokens.
struct TokenRow {
  std::optional<std::string> role;
  std::optional<bool> in_token_file;
  std::optional<int64_t> expires_unix_ms;
  int64_t attempts = 0;
  int64_t producers = 0;
  int64_t rejects = 0;
  std::optional<int64_t> last_opened_us;
};
using TokenRows = std::map<std::optional<std::string>, TokenRow>;

void AddTokens(const access::TokenWatch& watch, TokenRows* rows) {
  for (auto& [name, row] : *rows) row.in_token_file = false;
  for (const access::Token& token : watch.tokens()->tokens()) {
    if (token.revoked.has_value()) continue;
    TokenRow& row = (*rows)[token.name];
    row.in_token_file = true;
    std::string roles;
    for (const access::Role role : token.roles) roles += Cat(roles.empty() ? "" : ", ", access::RoleName(role));
    row.role = row.role.has_value() && *row.role != roles ? Cat(*row.role, "; ", roles) : roles;
    if (token.expires != absl::InfiniteFuture()) row.expires_unix_ms = absl::ToUnixMillis(token.expires);
  }
}

absl::Status AddSenders(const Call& call, TokenRows* rows) {
  const auto name = [](const Statement& row) {
    return row.IsNull(0) ? std::nullopt : std::optional<std::string>(row.String(0));
  };
  Statement attempts(call.scratch,
                     "SELECT t.label, count(*) FROM attempts AS a JOIN texts AS t ON t.text = a.sender GROUP BY a.sender "
                     "ORDER BY a.sender");
  RETURN_IF_ERROR(ForEachRow(attempts, [&] {
    (*rows)[name(attempts)].attempts = attempts.Int(1);
    return absl::OkStatus();
  }));
  Statement producers(call.dataset,
                      "SELECT s.name, count(*), max(p.last_opened_unix_us) FROM producers AS p "
                      "LEFT JOIN senders AS s ON s.sender = p.sender GROUP BY s.name ORDER BY s.name");
  RETURN_IF_ERROR(ForEachRow(producers, [&] {
    TokenRow& row = (*rows)[name(producers)];
    row.producers = producers.Int(1);
    row.last_opened_us = producers.Int(2);
    return absl::OkStatus();
  }));
  Statement rejects(call.dataset,
                    "SELECT s.name, count(*) FROM rejects AS r JOIN producers AS p ON p.producer_id = r.producer_id "
                    "LEFT JOIN senders AS s ON s.sender = p.sender GROUP BY s.name ORDER BY s.name");
  return ForEachRow(rejects, [&] {
    (*rows)[name(rejects)].rejects = rejects.Int(1);
    return absl::OkStatus();
  });
}

}  // namespace

absl::Status ListRejects(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(
      call.parameters.Allow({"reason", "sender", "origin", "since", "until", "limit", "cursor", "format"}));
  ASSIGN_OR_RETURN(const int64_t size, PageSize(call));
  ASSIGN_OR_RETURN(const std::optional<Cursor> cursor, ParseCursor(call));
  ASSIGN_OR_RETURN(std::string condition, RejectCondition(call));
  if (cursor.has_value()) condition += Cat(" AND r.reject < ", cursor->key);
  Statement list(call.dataset, Cat(kRejects, condition, " ORDER BY r.reject DESC LIMIT ", size + 1).c_str());
  out.BeginObject();
  RETURN_IF_ERROR(WritePage(
      out, list, size, [&] { WriteReject(out, list); }, [&] { return Cursor{.key = list.Int(0)}; }));
  Statement reasons(call.dataset, "SELECT reason, count(*) FROM rejects GROUP BY reason ORDER BY count(*) DESC, reason");
  out.BeginArray("reasons");
  RETURN_IF_ERROR(ForEachRow(reasons, [&] {
    out.BeginObject();
    WriteText(out, "reason", reasons, 0);
    WriteInt(out, "count", reasons, 1);
    out.EndObject();
    return absl::OkStatus();
  }));
  out.EndArray();
  out.EndObject();
  return absl::OkStatus();
}

absl::Status GetReject(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({}));
  ASSIGN_OR_RETURN(const int64_t key, KeyInPath(call));
  Statement reject(call.dataset, Cat(kRejects, "r.reject = ?1").c_str());
  ASSIGN_OR_RETURN(const bool found, reject.Bind(key).Step());
  if (!found) return absl::NotFoundError("there is no such reject");
  out.BeginObject();
  WriteReject(out, reject);
  Statement raw(call.dataset, "SELECT raw FROM rejects WHERE reject = ?1");
  ASSIGN_OR_RETURN(const bool has_raw, raw.Bind(key).Step());
  WriteBytes(out, "raw", has_raw ? raw.Bytes(0) : "");
  out.EndObject();
  return absl::OkStatus();
}

absl::Status ListProducers(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({"sender", "q", "sort", "limit", "cursor", "format"}));
  ASSIGN_OR_RETURN(const int64_t size, PageSize(call));
  ASSIGN_OR_RETURN(const std::string sort, call.parameters.Choice("sort", {"-last_opened", "last_opened"}));
  const char* const direction = sort.front() == '-' ? " DESC" : "";
  ASSIGN_OR_RETURN(const std::optional<Cursor> cursor, ParseCursor(call));
  ASSIGN_OR_RETURN(std::string condition, NamedSender(call, "s.name"));
  ASSIGN_OR_RETURN(const std::optional<std::string> q, call.parameters.Text("q"));
  if (q.has_value() && !q->empty()) {
    condition += Cat(" AND replace(lower(p.client), lower(", Quoted(*q), "), '') <> lower(p.client)");
  }
  const int64_t from = cursor.has_value() ? std::max<int64_t>(cursor->key, 0) : 0;
  const std::string joins = "FROM producers AS p LEFT JOIN senders AS s ON s.sender = p.sender WHERE ";
  Statement list(call.dataset, Cat("SELECT p.producer_id, s.name, p.client, p.epoch, p.committed_seq, "
                                   "p.first_opened_unix_us, p.last_opened_unix_us ",
                                   joins, condition, " ORDER BY p.last_opened_unix_us", direction, ", p.producer_id",
                                   direction, " LIMIT ", size + 1, " OFFSET ", from)
                                   .c_str());
  int64_t place = from;
  out.BeginObject();
  RETURN_IF_ERROR(WritePage(
      out, list, size,
      [&] {
        WriteHex(out, "producer_id", list, 0);
        WriteText(out, "sender", list, 1);
        WriteText(out, "client", list, 2);
        WriteInt(out, "epoch", list, 3);
        WriteInt(out, "committed_seq", list, 4);
        WriteTime(out, "first_opened_unix_ms", list, 5);
        WriteTime(out, "last_opened_unix_ms", list, 6);
      },
      [&] { return Cursor{.key = ++place}; }));
  Statement total(call.dataset, Cat("SELECT count(*) ", joins, condition).c_str());
  ASSIGN_OR_RETURN(const std::optional<int64_t> producers, total.QueryInt());
  out.Field("total", producers.value_or(0));
  out.EndObject();
  return absl::OkStatus();
}

absl::Status ListCacheEntries(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({"namespace", "q", "limit", "cursor", "format"}));
  ASSIGN_OR_RETURN(const int64_t size, PageSize(call));
  ASSIGN_OR_RETURN(const std::optional<Cursor> cursor, ParseCursor(call));
  std::string condition = "1 = 1";
  ASSIGN_OR_RETURN(const std::optional<std::string> space, call.parameters.Text("namespace"));
  if (space.has_value()) condition += Cat(" AND e.namespace = ", Quoted(*space));
  ASSIGN_OR_RETURN(const std::optional<std::string> q, call.parameters.Text("q"));
  if (q.has_value() && !q->empty()) {
    condition += Cat(" AND replace(lower(e.key), lower(", Quoted(*q), "), '') <> lower(e.key)");
  }
  if (cursor.has_value()) condition += Cat(" AND e.cache_entry < ", cursor->key);
  Statement list(call.dataset, Cat(kCacheEntries, condition, " ORDER BY e.cache_entry DESC LIMIT ", size + 1).c_str());
  out.BeginObject();
  RETURN_IF_ERROR(WritePage(
      out, list, size, [&] { WriteCacheEntry(out, list); }, [&] { return Cursor{.key = list.Int(0)}; }));
  Statement spaces(call.dataset,
                   "SELECT substr(namespace, 1, 400), count(*), sum(size_bytes) FROM cache_entries "
                   "GROUP BY substr(namespace, 1, 400) ORDER BY count(*) DESC, substr(namespace, 1, 400) LIMIT 200");
  out.BeginArray("namespaces");
  RETURN_IF_ERROR(ForEachRow(spaces, [&] {
    out.BeginObject();
    WriteText(out, "namespace", spaces, 0);
    WriteInt(out, "entries", spaces, 1);
    WriteInt(out, "bytes", spaces, 2);
    out.EndObject();
    return absl::OkStatus();
  }));
  out.EndArray();
  out.EndObject();
  return absl::OkStatus();
}

absl::Status GetCacheEntry(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({}));
  ASSIGN_OR_RETURN(const int64_t key, KeyInPath(call));
  Statement entry(call.dataset, Cat(kCacheEntries, "e.cache_entry = ?1").c_str());
  ASSIGN_OR_RETURN(const bool found, entry.Bind(key).Step());
  if (!found) return absl::NotFoundError("there is no such entry");
  out.BeginObject();
  WriteCacheEntry(out, entry);
  Statement value(call.dataset, "SELECT value FROM cache_entries WHERE cache_entry = ?1");
  ASSIGN_OR_RETURN(const bool has_value, value.Bind(key).Step());
  WriteBytes(out, "value", has_value ? value.Bytes(0) : "");
  out.EndObject();
  return absl::OkStatus();
}

absl::Status ListTokens(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({"format"}));
  TokenRows rows;
  RETURN_IF_ERROR(AddSenders(call, &rows));
  if (call.state.tokens() != nullptr) AddTokens(*call.state.tokens(), &rows);
  out.BeginObject();
  out.BeginArray("items");
  for (const auto& [name, row] : rows) {
    out.BeginObject();
    out.Field("name", name);
    out.Field("role", row.role);
    out.Field("in_token_file", row.in_token_file);
    out.Field("expires_unix_ms", row.expires_unix_ms);
    out.Field("attempts", row.attempts);
    out.Field("producers", row.producers);
    out.Field("rejects", row.rejects);
    out.Field("last_opened_unix_ms", row.last_opened_us.has_value() ? std::optional(*row.last_opened_us / 1000) : std::nullopt);
    out.EndObject();
  }
  out.EndArray();
  out.EndObject();
  return absl::OkStatus();
}

}  // namespace telemetry::web::api
