#include "server/web/calls/reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/json.h"
#include "server/storage/sql/transaction.h"
#include "server/web/api/endpoints.h"
#include "server/web/api/parameters.h"
#include "server/web/json/csv.h"
#include "server/web/json/json_writer.h"

namespace telemetry::web::calls {
namespace {

using storage::sql::Transaction;

constexpr size_t kPrefixSegments = 2;  // "api", "v1"

// Returns the variable segments if the pattern matches, else nullopt.
std::optional<std::vector<std::string>> Match(std::string_view pattern, const std::vector<std::string>& segments) {
  std::vector<std::string> variable;
  for (size_t i = kPrefixSegments; i < segments.size(); ++i) {
    if (pattern.empty()) return std::nullopt;
    const std::string_view part = pattern.substr(0, pattern.find('/'));
    pattern.remove_prefix(std::min(part.size() + 1, pattern.size()));
    if (part == "{}") {
      variable.push_back(segments[i]);
    } else if (part != segments[i]) {
      return std::nullopt;
    }
  }
  return pattern.empty() ? std::optional(std::move(variable)) : std::nullopt;
}

void Set(http::Target* target, std::string_view name, std::string value) {
  std::erase_if(target->query, [&](const auto& parameter) { return parameter.first == name; });
  target->query.emplace_back(name, std::move(value));
}

// Returns the key of the answer of an endpoint with a stamp: the stamp and the request, in parts with a NUL before
// each. No part contains a NUL: http/target.h refuses control characters.
absl::StatusOr<std::string> KeyOf(const KnownCall& known, const api::Call& call) {
  ASSIGN_OR_RETURN(std::string key, known.endpoint->stamp(call));
  const auto append = [&key](std::string_view text) { key.append(1, '\0').append(text); };
  for (const std::string& segment : known.target.segments) append(segment);
  for (const auto& [name, value] : known.target.query) append(name), append(value);
  return key;
}

}  // namespace

bool KnownCall::wants_all_pages() const {
  return wants_csv() && endpoint->is_paged && !target.Find("limit").has_value() && !target.Find("cursor").has_value();
}

absl::StatusOr<KnownCall> FindCall(http::Target target) {
  for (const api::Endpoint& endpoint : api::Endpoints()) {
    std::optional<std::vector<std::string>> path = Match(endpoint.pattern, target.segments);
    if (path.has_value()) return KnownCall{&endpoint, *std::move(path), std::move(target)};
  }
  return absl::NotFoundError("the API has no such address");
}

absl::Status Reader::Connect() {
  if (dataset_ == nullptr) {
    ASSIGN_OR_RETURN(dataset_, sources_.dataset());
  }
  if (scratch_ == nullptr) {
    ASSIGN_OR_RETURN(scratch_, sources_.scratch());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Reader::AnswerJson(const KnownCall& known) {
  RETURN_IF_ERROR(Connect());
  // A transaction sees the state of its first statement. The stamp, from the summaries, is read first, so that a kept
  // answer is never older than its stamp.
  ASSIGN_OR_RETURN(const Transaction of_scratch, Transaction::BeginRead(*scratch_));
  ASSIGN_OR_RETURN(const Transaction of_dataset, Transaction::BeginRead(*dataset_));
  const api::Parameters parameters(known.target);
  const api::Call call = {known.path, parameters, *dataset_, *scratch_, state_};
  const auto compute = [&]() -> absl::StatusOr<std::string> {
    std::string text;
    json::JsonWriter out(&text);
    RETURN_IF_ERROR(known.endpoint->answer(call, out));
    text.push_back('\n');
    return text;
  };
  if (known.endpoint->stamp == nullptr) return compute();
  ASSIGN_OR_RETURN(const std::string key, KeyOf(known, call));
  return answers_.Answer(key, compute);
}

absl::StatusOr<std::string> Reader::AnswerCsv(const KnownCall& call) {
  std::string csv;
  ASSIGN_OR_RETURN(const std::string text, AnswerJson(call));
  ASSIGN_OR_RETURN(const record::Json answer, record::ParseJson(text));
  const record::Json* const list = answer.Find(call.endpoint->csv_member);
  if (list != nullptr) json::CsvWriter(&csv).Append(*list);
  return csv;
}

absl::Status Reader::AppendCsvPage(const KnownCall& call, std::string* cursor, std::string* csv) {
  KnownCall page = call;
  Set(&page.target, "limit", std::to_string(api::kLargestPage));
  const bool is_first = cursor->empty();
  if (!is_first) Set(&page.target, "cursor", std::exchange(*cursor, ""));
  ASSIGN_OR_RETURN(const std::string text, AnswerJson(page));
  ASSIGN_OR_RETURN(const record::Json answer, record::ParseJson(text));
  const record::Json* const list = answer.Find(call.endpoint->csv_member);
  if (list != nullptr) json::CsvWriter(csv, /*has_header=*/!is_first).Append(*list);
  const record::Json* const next = answer.Find("next_cursor");
  if (next != nullptr) *cursor = next->text;
  return absl::OkStatus();
}

}  // namespace telemetry::web::calls
