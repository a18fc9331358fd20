#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/record/json.h"
#include "server/access/token_watch.h"
#include "server/storage/sqlite/scratch_file.h"
#include "server/web/server_state.h"
#include "server/web/summary/refresher.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::web {

// A dataset, its summaries, and the answers of the API, so that a test reads as a story. On a PostgreSQL server if
// TELEMETRY_TEST_POSTGRESQL is set (test_dataset.h).
class WebStory {
 public:
  // `tokens` must outlive the story; nullptr: nobody signs in.
  explicit WebStory(const access::TokenWatch* tokens = nullptr);
  ~WebStory();

  // Sends records that must be stored. An empty sender has no name.
  void Send(const std::vector<v1::Record>& records, const std::string& sender = "");
  // Removes an attempt, and its run if no attempt is left.
  void Remove(char attempt);
  // Refreshes the summaries until nothing changes.
  void Refresh();
  // Forgets the summaries, as a restart of the program does.
  void Restart();
  const summary::Progress& progress() const { return refresher_->progress(); }

  // Returns the answer to "runs?limit=2", a target below /api/v1.
  absl::StatusOr<record::Json> Ask(const std::string& target) { return Ask(target, *database_); }
  // Returns the same from another connection to the dataset.
  absl::StatusOr<record::Json> Ask(const std::string& target, storage::sql::Database& database);
  // Returns the value at "items.0.best_ms" in the answer, as JSON; "error: " and the error if there is none.
  std::string Value(const std::string& target, const std::string& path);
  absl::StatusCode Code(const std::string& target) { return Ask(target).status().code(); }
  // Returns the values at `member` of the items of all pages.
  std::vector<std::string> AllPages(const std::string& target, const std::string& member,
                                    const std::string& list = "items");
  // Returns the CSV of an answer.
  std::string Csv(const std::string& target);

  storage::DatasetStory& dataset() { return dataset_; }
  ServerState& state() { return state_; }
  storage::sql::Database& database() { return *database_; }
  // Returns a connection that reads the summaries.
  std::unique_ptr<storage::sql::Database> OpenSummaries() const { return file_->OpenReader().value(); }

 private:
  storage::DatasetStory dataset_;
  ServerState state_;
  std::unique_ptr<storage::sql::Database> database_;
  std::unique_ptr<storage::sqlite::ScratchFile> file_;
  std::unique_ptr<storage::sql::Database> scratch_writer_;
  std::unique_ptr<storage::sql::Database> scratch_;
  std::unique_ptr<summary::Refresher> refresher_;
};

// Returns the value at "items.0.best_ms" as JSON, or "(none)".
std::string At(const record::Json& json, const std::string& path);

// Return the hex form of AttemptId(letter), and a run as an item of /compare.
std::string AttemptHex(char letter);
std::string RunItem(char run);

// Returns a connection that reads the dataset in this file or at this URL.
std::unique_ptr<storage::sql::Database> OpenDataset(const std::string& db);
bool IsPostgresql(const std::string& db);

}  // namespace telemetry::web
