#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "server/web/api/common.h"
#include "server/web/api/condition.h"
#include "server/web/api/endpoints.h"
#include "server/web/api/page_writer.h"
#include "server/web/api/stored_bytes.h"
#include "server/web/summary/named_text.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;
using record::Cat;
using storage::sql::Statement;

// The origins among which a filter that is a hash is searched.
constexpr int kMostOrigins = 10000;

constexpr char kRejectTables[] =
    " FROM rejects AS r LEFT JOIN producers AS p ON p.producer_id = r.producer_id "
    "LEFT JOIN senders AS s ON s.sender = p.sender WHERE ";

// Returns the columns of a reject. `most`: code points of a text.
std::string RejectColumns(int most) {
  const auto cut = [most](const char* column) { return Cat("substr(", column, ", 1, ", most, ")"); };
  return Cat("SELECT r.reject, r.received_unix_us, r.reason, ", cut("r.message"), ", ", cut("r.source"),
             ", r.line, r.origin, ", "s.name, ", cut("p.client"), ", r.producer_id, length(r.raw)");
}

void WriteReject(JsonWriter& out, const Statement& row, bool is_whole) {
  const auto write_text = [&](const char* key, int column) {
    is_whole ? out.Field(key, json::Whole{row.Text(column)}) : WriteText(out, key, row, column);
  };
  WriteInt(out, "reject", row, 0);
  WriteTime(out, "received_unix_ms", row, 1);
  WriteText(out, "reason", row, 2);
  write_text("message", 3);
  write_text("source", 4);
  WriteInt(out, "line", row, 5);
  out.BeginObject("origin");
  WriteText(out, "label", row, 6);
  out.Field("filter", summary::FilterOf(row.Text(6)));
  out.EndObject();
  WriteText(out, "sender", row, 7);
  WriteText(out, "client", row, 8);
  WriteHex(out, "producer_id", row, 9);
  WriteInt(out, "raw_bytes", row, 10);
}

// Returns the origin that a filter selects; nullopt: no reject has it.
absl::StatusOr<std::optional<std::string>> FindOrigin(const Call& call, const std::string& filter) {
  const std::optional<std::string> digest = summary::DigestOfFilter(filter);
  if (digest == summary::TextDigest(filter)) return filter;
  Statement origins(call.dataset,
                    Cat("SELECT DISTINCT origin FROM rejects ORDER BY origin LIMIT ", kMostOrigins).c_str());
  std::optional<std::string> found;
  RETURN_IF_ERROR(ForEachRow(origins, [&] {
    if (digest == summary::TextDigest(origins.Text(0))) found = origins.String(0);
    return absl::OkStatus();
  }));
  return found;
}

absl::StatusOr<Condition> RejectCondition(const Call& call) {
  Condition condition;
  RETURN_IF_ERROR(condition.AddSender(call, "s.name"));
  ASSIGN_OR_RETURN(std::optional<std::string> reason, call.parameters.Text("reason"));
  if (reason.has_value()) condition.Add("r.reason = @", {Condition::Text(*std::move(reason))});
  RETURN_IF_ERROR(condition.AddTimes(call, "r.received_unix_us"));
  ASSIGN_OR_RETURN(const std::optional<std::string> filter, call.parameters.Text("origin"));
  if (!filter.has_value()) return condition;
  ASSIGN_OR_RETURN(std::optional<std::string> origin, FindOrigin(call, *filter));
  origin.has_value() ? condition.Add("r.origin = @", {Condition::Text(*std::move(origin))}) : condition.Add("1 = 0");
  return condition;
}

absl::Status WriteReasons(const Call& call, JsonWriter& out) {
  Statement reasons(call.dataset,
                    "SELECT reason, count(*) FROM rejects GROUP BY reason ORDER BY count(*) DESC, reason");
  out.BeginArray("reasons");
  RETURN_IF_ERROR(ForEachRow(reasons, [&] {
    out.BeginObject();
    WriteText(out, "reason", reasons, 0);
    WriteInt(out, "count", reasons, 1);
    out.EndObject();
    return absl::OkStatus();
  }));
  out.EndArray();
  return absl::OkStatus();
}

}  // namespace

absl::Status ListRejects(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({"reason", "sender", "origin", "since", "until", "limit", "cursor", "format"}));
  ASSIGN_OR_RETURN(const int64_t size, PageSize(call));
  ASSIGN_OR_RETURN(const std::optional<Cursor> cursor, ParseCursor(call));
  ASSIGN_OR_RETURN(Condition condition, RejectCondition(call));
  if (cursor.has_value()) condition.Add(Cat("r.reject < ", cursor->key));
  Statement list(call.dataset, Cat(RejectColumns(kListColumnLength), kRejectTables, condition.sql(),
                                   " ORDER BY r.reject DESC LIMIT ", size + 1)
                                   .c_str());
  condition.BindTo(list);
  out.BeginObject();
  RETURN_IF_ERROR(WritePage(
      out, list, size, [&] { WriteReject(out, list, /*is_whole=*/false); },
      [&] { return Cursor{.key = list.Int(0)}; }));
  RETURN_IF_ERROR(WriteReasons(call, out));
  out.EndObject();
  return absl::OkStatus();
}

absl::Status GetReject(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({}));
  ASSIGN_OR_RETURN(const int64_t key, KeyInPath(call));
  Statement reject(call.dataset, Cat(RejectColumns(static_cast<int>(json::kWholeTextBytes) + 1), ", substr(r.raw, 1, ",
                                     kMostStoredBytes, ")", kRejectTables, "r.reject = ?1")
                                     .c_str());
  ASSIGN_OR_RETURN(const bool found, reject.Bind(key).Step());
  if (!found) return absl::NotFoundError("there is no such reject");
  out.BeginObject();
  WriteReject(out, reject, /*is_whole=*/true);
  WriteBytes(out, "raw", reject.Bytes(11), reject.Int(10));
  out.EndObject();
  return absl::OkStatus();
}

}  // namespace telemetry::web::api
