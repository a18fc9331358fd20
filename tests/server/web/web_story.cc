#include "tests/server/web/web_story.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/record/ids.h"
#include "server/http/target.h"
#include "server/storage/postgresql/pg_database.h"
#include "server/storage/readers/deletion.h"
#include "server/storage/sql/transaction.h"
#include "server/storage/sqlite/sqlite_database.h"
#include "server/web/api/endpoints.h"
#include "server/web/json/csv.h"
#include "server/web/json/json_writer.h"
#include "server/web/summary/summary_schema.h"

namespace telemetry::web {
namespace {

using storage::sql::Transaction;

std::string ProducerId(const std::string& sender) {
  std::string id = sender;
  id.resize(record::kProducerIdBytes, '.');
  return id;
}

// Returns the variable segments of the path if the pattern matches.
std::optional<std::vector<std::string>> Match(std::string_view pattern, const std::vector<std::string>& segments) {
  const std::vector<std::string> parts = absl::StrSplit(std::string(pattern), '/');
  if (parts.size() != segments.size()) return std::nullopt;
  std::vector<std::string> variable;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] == "{}")
      variable.push_back(segments[i]);
    else if (parts[i] != segments[i])
      return std::nullopt;
  }
  return variable;
}

absl::StatusOr<std::string> Answer(const http::Target& target, storage::sql::Database& dataset,
                                   storage::sql::Database& scratch, const ServerState& state) {
  for (const api::Endpoint& endpoint : api::Endpoints()) {
    const auto path = Match(endpoint.pattern, target.segments);
    if (!path.has_value()) continue;
    const auto reading = Transaction::BeginRead(dataset);
    const auto reading_scratch = Transaction::BeginRead(scratch);
    EXPECT_TRUE(reading.ok() && reading_scratch.ok());
    std::string text;
    json::JsonWriter out(&text);
    const absl::Status status = endpoint.answer({*path, api::Parameters(target), dataset, scratch, state}, out);
    if (!status.ok()) return status;
    return text;
  }
  return absl::UnimplementedError("there is no such endpoint");
}

}  // namespace

bool IsPostgresql(const std::string& db) { return db.starts_with("postgresql:"); }

std::unique_ptr<storage::sql::Database> OpenDataset(const std::string& db) {
  if (IsPostgresql(db)) {
    auto database = storage::postgresql::PgDatabase::Open(db);
    EXPECT_TRUE(database.ok()) << database.status();
    return database.ok() ? *std::move(database) : nullptr;
  }
  auto database = storage::sqlite::SqliteDatabase::Open(db, {.read_only = true});
  EXPECT_TRUE(database.ok()) << database.status();
  return std::make_unique<storage::sqlite::SqliteDatabase>(*std::move(database));
}

WebStory::WebStory(const access::TokenWatch* tokens)
    : state_(IsPostgresql(dataset_.path()), tokens), database_(OpenDataset(dataset_.path())) {
  Restart();
}

WebStory::~WebStory() = default;

void WebStory::Restart() {
  refresher_.reset();
  scratch_.reset();
  scratch_writer_.reset();
  auto file = storage::sqlite::ScratchFile::Create("", summary::kSummarySchema);
  ASSERT_TRUE(file.ok()) << file.status();
  file_ = *std::move(file);
  scratch_writer_ = file_->OpenWriter().value();
  scratch_ = file_->OpenReader().value();
  refresher_ = std::make_unique<summary::Refresher>(*database_, *scratch_writer_);
}

void WebStory::Send(const std::vector<v1::Record>& records, const std::string& sender) {
  storage::ProducerBatch batch = {.producer_id = ProducerId(sender), .epoch = 1};
  const auto opened = dataset_.writer().OpenProducers(
      {{.producer_id = batch.producer_id, .epoch = 1, .client = "test 1.0", .sender = sender}});
  ASSERT_TRUE(opened.ok() && opened->front().status.ok());
  batch.first_seq = opened->front().committed_seq + 1;
  storage::AddRecords(records, &batch);
  const auto outcomes = dataset_.writer().CommitBatches({batch});
  ASSERT_TRUE(outcomes.ok() && outcomes->front().status.ok()) << outcomes.status();
  for (const storage::RefusedRecord& refused : outcomes->front().refused) {
    ADD_FAILURE() << refused.message << ": " << records[refused.seq - batch.first_seq].DebugString();
  }
}

void WebStory::Remove(char attempt) {
  v1::DeleteRequest request;
  request.add_attempt_ids(storage::AttemptId(attempt));
  const auto reader = dataset_.OpenReader();
  auto deletion = reader->BeginDeletion(request);
  ASSERT_TRUE(deletion.ok()) << deletion.status();
  while (!deletion->done()) {
    const auto removal = reader->Next(*deletion);
    ASSERT_TRUE(removal.ok()) << removal.status();
    const auto step = dataset_.writer().RemoveAttempts(*removal);
    ASSERT_TRUE(step.ok()) << step.status();
  }
}

void WebStory::Refresh() {
  constexpr int kMostRounds = 100;
  for (int i = 0; i < kMostRounds; ++i) {
    const absl::StatusOr<bool> changed = refresher_->Refresh();
    ASSERT_TRUE(changed.ok()) << changed.status();
    if (!*changed && refresher_->progress().complete) break;
  }
  state_.Set(refresher_->progress());
}

absl::StatusOr<record::Json> WebStory::Ask(const std::string& target, storage::sql::Database& database) {
  const absl::StatusOr<http::Target> parsed = http::ParseTarget(absl::StrCat("/", target));
  if (!parsed.ok()) return parsed.status();
  const absl::StatusOr<std::string> text = Answer(*parsed, database, *scratch_, state_);
  if (!text.ok()) return text.status();
  absl::StatusOr<record::Json> json = record::ParseJson(*text);
  EXPECT_TRUE(json.ok()) << json.status() << " in " << *text;
  return json;
}

std::string WebStory::Value(const std::string& target, const std::string& path) {
  const absl::StatusOr<record::Json> answer = Ask(target);
  return answer.ok() ? At(*answer, path) : absl::StrCat("error: ", answer.status().ToString());
}

std::vector<std::string> WebStory::AllPages(const std::string& target, const std::string& member,
                                            const std::string& list) {
  std::vector<std::string> values;
  std::string cursor;
  do {
    const absl::StatusOr<record::Json> page = Ask(absl::StrCat(target, cursor));
    EXPECT_TRUE(page.ok()) << page.status();
    if (!page.ok()) break;
    for (const record::Json& item : page->Find(list)->items) values.push_back(At(item, member));
    const record::Json* const next = page->Find("next_cursor");
    cursor = next->is_null() ? "" : absl::StrCat("&cursor=", next->text);
  } while (!cursor.empty() && values.size() < 10000);
  return values;
}

std::string WebStory::Csv(const std::string& target) {
  const absl::StatusOr<http::Target> parsed = http::ParseTarget(absl::StrCat("/", target));
  const absl::StatusOr<record::Json> answer =
      Ask(absl::StrCat(target, target.find('?') == std::string::npos ? "?" : "&", "format=csv"));
  if (!parsed.ok() || !answer.ok()) return answer.status().ToString();
  std::string text;
  for (const api::Endpoint& endpoint : api::Endpoints()) {
    if (!Match(endpoint.pattern, parsed->segments).has_value()) continue;
    json::CsvWriter(&text).Append(*answer->Find(endpoint.csv_member));
  }
  return text;
}

std::string At(const record::Json& json, const std::string& path) {
  const record::Json* at = &json;
  const std::vector<std::string> parts = absl::StrSplit(path, '.');
  for (const std::string& part : parts) {
    size_t index = 0;
    if (at->kind == record::Json::Kind::kArray && absl::SimpleAtoi(part, &index)) {
      at = index < at->items.size() ? &at->items[index] : nullptr;
    } else {
      at = at->Find(part);
    }
    if (at == nullptr) return "(none)";
  }
  return record::ToJson(*at);
}

std::string AttemptHex(char letter) { return record::HexEncode(storage::AttemptId(letter)); }

std::string RunItem(char run) { return absl::StrCat("run:", storage::RunId(run)); }

}  // namespace telemetry::web
