#include "server/storage/readers/sql_reader.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/identity.h"
#include "proto/record/ids.h"
#include "server/storage/readers/cache_reader.h"
#include "server/storage/readers/deletion.h"
#include "server/storage/readers/exporter.h"
#include "server/storage/readers/model_reader.h"
#include "server/storage/sql/statement.h"

namespace telemetry::storage::readers {
namespace {

constexpr int32_t kDefaultPage = 100;
constexpr int32_t kLargestPage = 1000;
constexpr int32_t kDefaultRows = 1000;
constexpr int32_t kMostRows = 10000;
// A list ends with the first entry that reaches this size.
constexpr size_t kMostListBytes = size_t{1} << 20;
// A small number: a run may be larger than a megabyte.
constexpr int64_t kRunsAtOnce = 8;

int32_t PageSize(int32_t asked, int32_t usual, int32_t most) { return asked <= 0 ? usual : std::min(asked, most); }

// The token of the page after a run: its run_id, and its sender's name in hex digits.
std::string FormatPageToken(const RunPlace& place) {
  return absl::StrCat(place.run_id, record::HexEncode(place.sender_name));
}

std::optional<RunPlace> ParsePageToken(const std::string& token) {
  if (token.empty()) return RunPlace();
  absl::StatusOr<std::string> name =
      record::HexDecode(std::string_view(token).substr(std::min(record::kRunIdDigits, token.size())));
  RunPlace place = {.run_id = token.substr(0, record::kRunIdDigits)};
  if (!record::IsHexId(place.run_id) || !name.ok()) return std::nullopt;
  place.sender_name = *std::move(name);
  return place;
}

absl::Status BadToken() { return absl::InvalidArgumentError("page_token was not issued by this service"); }

// Returns the first run whose run_id is derived from its description, or the first run if there is none.
const StoredRun& FindTrueRun(const std::vector<StoredRun>& runs) {
  const auto found = std::find_if(runs.begin(), runs.end(), [](const StoredRun& run) {
    return record::CheckRunId(run.run).verdict == record::IdentityCheck::kTrue;
  });
  return found == runs.end() ? runs.front() : *found;
}

}  // namespace

absl::StatusOr<sql::Transaction> SqlReader::BeginCall() {
  reader_.Forget();
  return sql::Transaction::BeginRead(*database_);
}

absl::StatusOr<uint64_t> SqlReader::CountProducers() {
  ASSIGN_OR_RETURN(const sql::Transaction transaction, BeginCall());
  sql::Statement count(*database_, "SELECT count(*) FROM producers");
  RETURN_IF_ERROR(count.Step().status());
  return static_cast<uint64_t>(count.Int(0));
}

absl::StatusOr<v1::ListRunsResponse> SqlReader::ListRuns(const v1::ListRunsRequest& request) {
  RETURN_IF_ERROR(CheckFilter(request.filter()));
  const std::optional<RunPlace> after = ParsePageToken(request.page_token());
  if (!after.has_value()) return BadToken();
  const int32_t size = PageSize(request.page_size(), kDefaultPage, kLargestPage);
  ASSIGN_OR_RETURN(const sql::Transaction transaction, BeginCall());
  v1::ListRunsResponse response;
  RunPlace last = *after;
  size_t bytes = 0;
  while (true) {
    ASSIGN_OR_RETURN(std::vector<StoredRun> runs, reader_.Runs(request.filter(), last, kRunsAtOnce));
    if (runs.empty()) return response;
    for (const StoredRun& run : runs) {
      if (response.runs_size() == size || bytes >= kMostListBytes) {
        response.set_next_page_token(FormatPageToken(last));
        return response;
      }
      ASSIGN_OR_RETURN(v1::RunSummary summary, reader_.Summarise(run));
      bytes += summary.ByteSizeLong();
      *response.add_runs() = std::move(summary);
      last = RunPlace::Behind(run);
    }
  }
}

absl::StatusOr<v1::RunSummary> SqlReader::GetRun(const std::string& run_id) {
  ASSIGN_OR_RETURN(const sql::Transaction transaction, BeginCall());
  ASSIGN_OR_RETURN(std::vector<StoredRun> runs, reader_.RunsWithId(run_id));
  ASSIGN_OR_RETURN(std::vector<StoredAttempt> attempts,
                   reader_.AttemptsWithRunId(run_id, "", std::numeric_limits<int64_t>::max()));
  return reader_.Summarise(FindTrueRun(runs), &attempts);
}

absl::StatusOr<v1::ListAttemptsResponse> SqlReader::ListAttempts(const v1::ListAttemptsRequest& request) {
  absl::StatusOr<std::string> after = record::HexDecode(request.page_token());
  if (!after.ok()) return BadToken();
  const int32_t size = PageSize(request.page_size(), kDefaultPage, kLargestPage);
  ASSIGN_OR_RETURN(const sql::Transaction transaction, BeginCall());
  RETURN_IF_ERROR(reader_.RunsWithId(request.run_id()).status());
  ASSIGN_OR_RETURN(std::vector<StoredAttempt> attempts, reader_.AttemptsWithRunId(request.run_id(), *after, size + 1));
  v1::ListAttemptsResponse response;
  size_t bytes = 0;
  for (const StoredAttempt& listed : attempts) {
    if (response.attempts_size() == size || bytes >= kMostListBytes) {
      response.set_next_page_token(record::HexEncode(response.attempts().rbegin()->attempt().attempt_id()));
      break;
    }
    ASSIGN_OR_RETURN(StoredAttempt attempt, reader_.Attempt(listed.summary.attempt().attempt_id()));
    RETURN_IF_ERROR(reader_.Summarise(&attempt));
    bytes += attempt.summary.ByteSizeLong();
    *response.add_attempts() = std::move(attempt.summary);
  }
  return response;
}

absl::StatusOr<v1::AttemptSummary> SqlReader::GetAttempt(const std::string& attempt_id) {
  ASSIGN_OR_RETURN(const sql::Transaction transaction, BeginCall());
  ASSIGN_OR_RETURN(StoredAttempt attempt, reader_.Attempt(attempt_id));
  RETURN_IF_ERROR(reader_.Summarise(&attempt));
  return std::move(attempt.summary);
}

absl::StatusOr<v1::ListMeasurementsResponse> SqlReader::ListMeasurements(const v1::ListMeasurementsRequest& request) {
  const int32_t size = PageSize(request.page_size(), kDefaultRows, kMostRows);
  ASSIGN_OR_RETURN(const sql::Transaction transaction, BeginCall());
  ASSIGN_OR_RETURN(StoredAttempt attempt, reader_.Attempt(request.attempt_id()));
  v1::ListMeasurementsResponse response;
  auto* rows = response.mutable_measurements();
  absl::StatusOr<bool> more = reader_.measurements().ReadPage(
      attempt.key, request.after_seq(), {.rows = size, .bytes = kMostListBytes}, "", rows, /*announced=*/nullptr);
  if (more.ok() && request.details()) {
    ASSIGN_OR_RETURN(const bool shortened,
                     reader_.details().Read(attempt.key, kMostListBytes, rows, response.mutable_details()));
    more = *more || shortened;
  }
  if (!more.ok()) return more.status();
  response.set_more(*more);
  for (v1::Measurement& row : *rows) row.set_attempt_id(request.attempt_id());
  for (v1::MeasurementDetail& detail : *response.mutable_details()) detail.set_attempt_id(request.attempt_id());
  return response;
}

absl::StatusOr<uint64_t> SqlReader::CacheBytes() {
  ASSIGN_OR_RETURN(const sql::Transaction transaction, BeginCall());
  ASSIGN_OR_RETURN(const int64_t bytes, readers::CacheBytes(*database_));
  return static_cast<uint64_t>(bytes);
}

absl::StatusOr<v1::CacheEntry> SqlReader::GetCacheEntry(const v1::GetCacheRequest& request, int64_t oldest_unix_us) {
  ASSIGN_OR_RETURN(const sql::Transaction transaction, BeginCall());
  return readers::GetCacheEntry(*database_, request, oldest_unix_us);
}

absl::StatusOr<v1::ListCacheResponse> SqlReader::ListCacheEntries(const v1::ListCacheRequest& request,
                                                                  int64_t oldest_unix_us) {
  ASSIGN_OR_RETURN(const sql::Transaction transaction, BeginCall());
  return readers::ListCacheEntries(*database_, request, oldest_unix_us);
}

absl::StatusOr<v1::ListModelsResponse> SqlReader::ListModels(const v1::ListModelsRequest& request) {
  ASSIGN_OR_RETURN(const sql::Transaction transaction, BeginCall());
  return readers::ListModels(*database_, request);
}

absl::StatusOr<v1::ReadModelResponse> SqlReader::ReadModel(const v1::ReadModelRequest& request) {
  ASSIGN_OR_RETURN(const sql::Transaction transaction, BeginCall());
  return readers::ReadModel(*database_, request);
}

absl::Status SqlReader::Export(const v1::ExportRequest& request, const Sink& sink) {
  Exporter exporter(request);
  while (true) {
    absl::StatusOr<ExportStep> step = Next(exporter);
    if (!step.ok() || step->done) return step.status();
    if (!step->serialised.empty() && !step->item.emplace().ParseFromString(step->serialised)) {
      return absl::DataLossError("cannot parse a stored IR graph");
    }
    if (!step->item.has_value()) continue;
    RETURN_IF_ERROR(sink(*std::move(step->item)));
  }
}

absl::StatusOr<ExportStep> SqlReader::Next(Exporter& exporter) {
  if (!exporter.has_begun()) {
    ASSIGN_OR_RETURN(const sql::Transaction transaction, BeginCall());
  }
  return exporter.Next(*database_, reader_);
}

absl::StatusOr<Deletion> SqlReader::BeginDeletion(const v1::DeleteRequest& request) {
  const absl::StatusOr<sql::Transaction> transaction = BeginCall();
  return transaction.ok() ? Deletion::Begin(*database_, request) : transaction.status();
}

absl::StatusOr<Removal> SqlReader::Next(Deletion& deletion) {
  const absl::StatusOr<sql::Transaction> transaction = BeginCall();
  return transaction.ok() ? deletion.Next(*database_) : transaction.status();
}

}  // namespace telemetry::storage::readers
