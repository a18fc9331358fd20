#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/http/target.h"
#include "server/storage/sql/database.h"
#include "server/web/api/call.h"
#include "server/web/calls/answer_cache.h"
#include "server/web/server_state.h"

namespace telemetry::web::calls {

// The databases that answers come from, opened when they are first needed.
struct Sources {
  using Open = std::function<absl::StatusOr<std::unique_ptr<storage::sql::Database>>()>;
  Open dataset;
  Open scratch;
};

// A call of the API whose address is known.
struct KnownCall {
  const api::Endpoint* endpoint = nullptr;
  std::vector<std::string> path;  // the variable segments
  http::Target target;

  bool wants_csv() const { return target.Find("format") == "csv"; }
  // Returns whether the answer is a CSV of all pages.
  bool wants_all_pages() const;
};

// Finds the endpoint of a target below /api/v1. NOT_FOUND: there is none.
absl::StatusOr<KnownCall> FindCall(http::Target target);

// Answers calls with one pair of connections. Used by one thread at a time.
class Reader {
 public:
  // All must outlive the reader.
  Reader(const Sources& sources, const ServerState& state, AnswerCache& answers)
      : sources_(sources), state_(state), answers_(answers) {}

  // Returns the answer as JSON. Errors: those of api::Answer; UNAVAILABLE: a database cannot be read now.
  absl::StatusOr<std::string> AnswerJson(const KnownCall& call);
  // Returns the answer as CSV.
  absl::StatusOr<std::string> AnswerCsv(const KnownCall& call);
  // Appends a page of the answer as CSV: the one at `cursor`; empty: the first one, which begins with the names of the
  // columns. Sets `cursor` to the next page; empty: it was the last one.
  absl::Status AppendCsvPage(const KnownCall& call, std::string* cursor, std::string* csv);

 private:
  absl::Status Connect();

  const Sources& sources_;
  const ServerState& state_;
  AnswerCache& answers_;
  std::unique_ptr<storage::sql::Database> dataset_;
  std::unique_ptr<storage::sql::Database> scratch_;
};

}  // namespace telemetry::web::calls
