#include "worker/cache/stdio_session.h"

#include <istream>
#include <ostream>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/json.h"
#include "worker/cache/cache_json.h"

namespace telemetry::worker::cache {
namespace {

using record::Json;
using Members = std::vector<std::pair<std::string, Json>>;

absl::StatusOr<Members> AnswerGet(const Json& request, client::CacheClient& client) {
  ASSIGN_OR_RETURN(const v1::GetCacheRequest get, ParseGet(request));
  const absl::StatusOr<v1::CacheEntry> entry = client.Get(get);
  if (absl::IsNotFound(entry.status())) return Members{{"entry", Json::Null()}};
  if (!entry.ok()) return entry.status();
  return Members{{"entry", EntryToJson(*entry, /*with_value=*/true)}};
}

absl::StatusOr<Members> AnswerPut(const Json& request, client::CacheClient& client) {
  ASSIGN_OR_RETURN(const v1::CacheEntry entry, ParsePut(request));
  ASSIGN_OR_RETURN(const v1::PutCacheResponse response, client.Put(entry));
  return Members{{"removed", Json::Integer(static_cast<int64_t>(response.removed()))}};
}

absl::StatusOr<Members> AnswerList(const Json& request, client::CacheClient& client) {
  ASSIGN_OR_RETURN(const v1::ListCacheRequest list, ParseList(request));
  ASSIGN_OR_RETURN(const v1::ListCacheResponse page, client.List(list));
  Json entries = Json::Array();
  for (const v1::CacheEntry& entry : page.entries()) entries.items.push_back(EntryToJson(entry, list.values()));
  return Members{{"entries", std::move(entries)}, {"next_page_token", Json::String(page.next_page_token())}};
}

absl::StatusOr<Members> Answer(const Json& request, client::CacheClient& client) {
  const Json* op = request.Find("op");
  const std::string name = op == nullptr ? "" : op->text;
  if (name == "get") return AnswerGet(request, client);
  if (name == "put") return AnswerPut(request, client);
  if (name == "list") return AnswerList(request, client);
  if (name == "hello") {
    return Members{{"protocol", Json::Integer(kStdioProtocol)}, {"version", Json::String(TELEMETRY_VERSION)}};
  }
  return absl::InvalidArgumentError("\"op\" is not \"get\", \"put\", \"list\" or \"hello\"");
}

}  // namespace

std::string AnswerLine(std::string_view line, client::CacheClient& client) {
  const absl::StatusOr<Json> request = record::ParseJson(line);
  const Json* id = request.ok() ? request->Find("id") : nullptr;
  const absl::StatusOr<Members> members = request.ok() ? Answer(*request, client) : request.status();
  Json answer = Json::Object();
  answer.members = {{"id", id == nullptr ? Json::Null() : *id}, {"ok", Json::Bool(members.ok())}};
  if (members.ok()) {
    answer.members.insert(answer.members.end(), members->begin(), members->end());
  } else {
    answer.members.emplace_back("code", Json::String(absl::StatusCodeToString(members.status().code())));
    answer.members.emplace_back("error", Json::String(std::string(members.status().message())));
    answer.members.emplace_back("absent", Json::Bool(client.is_absent()));
  }
  return record::ToJson(answer);
}

void ServeLines(std::istream& in, std::ostream& out, client::CacheClient& client) {
  std::string line;
  while (std::getline(in, line)) {
    if (line.empty()) continue;
    out << AnswerLine(line, client) << '\n' << std::flush;
    if (!out) return;
  }
}

}  // namespace telemetry::worker::cache
