#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"
#include "server/web/api/common.h"
#include "server/web/api/condition.h"
#include "server/web/api/endpoints.h"
#include "server/web/api/page_writer.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;
using record::Cat;
using storage::sql::Statement;

constexpr char kProducerTables[] = " FROM producers AS p LEFT JOIN senders AS s ON s.sender = p.sender WHERE ";

// Returns the lowest or the highest producer_id that begins with these hex digits; nullopt: none does.
std::optional<std::string> ProducerBound(std::string digits, char fill) {
  if (digits.size() > 2 * record::kProducerIdBytes) return std::nullopt;
  digits.resize(2 * record::kProducerIdBytes, fill);
  const absl::StatusOr<std::string> id = record::HexDecode(digits);
  return id.ok() ? std::optional(*id) : std::nullopt;
}

// Adds the condition that the client contains the text, or that the id begins with it.
void AddSearch(const std::string& text, Condition* condition) {
  const std::string in_client = "replace(lower(p.client), lower(@), '') <> lower(p.client)";
  const std::optional<std::string> low = ProducerBound(text, '0');
  const std::optional<std::string> high = ProducerBound(text, 'f');
  if (!low.has_value() || !high.has_value()) return condition->Add(in_client, {Condition::Text(text)});
  condition->Add(Cat("(", in_client, " OR p.producer_id BETWEEN @ AND @)"),
                 {Condition::Text(text), Condition::Blob(*low), Condition::Blob(*high)});
}

absl::StatusOr<Condition> ProducerCondition(const Call& call) {
  Condition condition;
  RETURN_IF_ERROR(condition.AddSender(call, "s.name"));
  ASSIGN_OR_RETURN(const std::optional<std::string> q, call.parameters.Text("q"));
  if (q.has_value() && !q->empty()) AddSearch(*q, &condition);
  return condition;
}

// Adds the condition that selects what follows a cursor: the time of the last opening, and the id in hex digits.
absl::Status AddCursor(const Cursor& cursor, bool is_descending, Condition* condition) {
  const absl::StatusOr<std::string> id = record::HexDecode(cursor.value);
  if (!id.ok()) return absl::InvalidArgumentError("parameter cursor: it belongs to another list");
  const char* const behind = is_descending ? "<" : ">";
  condition->Add(Cat("(p.last_opened_unix_us ", behind, " ", cursor.key, " OR (p.last_opened_unix_us = ", cursor.key,
                     " AND p.producer_id ", behind, " @))"),
                 {Condition::Blob(*id)});
  return absl::OkStatus();
}

}  // namespace

absl::Status ListProducers(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({"sender", "q", "sort", "limit", "cursor", "format"}));
  ASSIGN_OR_RETURN(const int64_t size, PageSize(call));
  ASSIGN_OR_RETURN(const std::string sort, call.parameters.Choice("sort", {"-last_opened", "last_opened"}));
  ASSIGN_OR_RETURN(const std::optional<Cursor> cursor, ParseCursor(call));
  ASSIGN_OR_RETURN(const Condition all, ProducerCondition(call));
  Condition condition = all;
  const bool is_descending = sort.front() == '-';
  if (cursor.has_value()) RETURN_IF_ERROR(AddCursor(*cursor, is_descending, &condition));
  const char* const direction = is_descending ? " DESC" : "";
  Statement list(call.dataset, Cat("SELECT p.producer_id, s.name, substr(p.client, 1, ", kListColumnLength,
                                   "), p.epoch, p.committed_seq, p.first_opened_unix_us, p.last_opened_unix_us",
                                   kProducerTables, condition.sql(), " ORDER BY p.last_opened_unix_us", direction,
                                   ", p.producer_id", direction, " LIMIT ", size + 1)
                                   .c_str());
  condition.BindTo(list);
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
      [&] { return Cursor{.value = record::HexEncode(list.Bytes(0)), .key = list.Int(6)}; }));
  Statement total(call.dataset, Cat("SELECT count(*)", kProducerTables, all.sql()).c_str());
  all.BindTo(total);
  ASSIGN_OR_RETURN(const std::optional<int64_t> producers, total.QueryInt());
  out.Field("total", producers.value_or(0));
  out.EndObject();
  return absl::OkStatus();
}

}  // namespace telemetry::web::api
